"""Where a dataset stands, and what a lead does next."""
