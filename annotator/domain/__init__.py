"""Define the domain: frozen records and rules. Uses the standard library only, and nothing else of this program."""
