"""What the choice of a dispute's grade does to the scores of the imported runs."""
