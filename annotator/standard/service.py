"""What leads do with the standard (publish a version, compare two, merge with another lead's), and what an annotator is
told about an answer given under an older one.

Stands beside labeling: every judgment carries the version and the text it was made on.
"""
