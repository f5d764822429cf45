"""Run the commands: one file per slice, whose commands parse their options, call a service and print the result."""
