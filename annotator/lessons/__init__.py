"""What decided disputes teach the guideline."""
