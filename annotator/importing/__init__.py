"""Files into the database, one evaluator's file into another's, and new document ids."""
