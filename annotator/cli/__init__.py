"""The command line: one file per stage; each parses, calls a service, prints."""
