"""People, their roles, passwords and login sessions."""
