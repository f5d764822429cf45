"""Define the frozen records and rules of several slices. Imports only the standard library."""
