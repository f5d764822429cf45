"""The tabs of the page Pool: each file draws one, for a dataset whose pool holds pairs."""
