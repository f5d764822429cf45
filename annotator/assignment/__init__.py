"""Who judges what: overlap and its exceptions, expertise, queries given to people."""
