"""List the near duplicates that a pool left out, and accept grades for them."""
