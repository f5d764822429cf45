"""The page Queries and documents: files into a dataset, trial conversions, new ids; each task in its own
process.
"""
