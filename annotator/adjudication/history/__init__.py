"""What leads did: who, when, what, before, after."""
