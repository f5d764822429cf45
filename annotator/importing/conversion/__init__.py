"""Convert one evaluator's file into another's, without a database."""
