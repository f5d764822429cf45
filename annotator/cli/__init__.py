"""The commands, one file per slice. A command parses its options, calls a service and prints the result."""
