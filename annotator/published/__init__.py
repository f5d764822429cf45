"""What is out: compare releases, browse their qrels, follow a grade to the judgments behind it."""
