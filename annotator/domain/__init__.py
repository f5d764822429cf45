"""What the words mean: frozen records and rules. Standard library only; imports nothing of ours."""
