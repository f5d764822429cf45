"""Documents that annotators propose because the pool lacks them."""
