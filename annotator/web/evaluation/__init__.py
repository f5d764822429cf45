"""The page Evaluation: what is chosen, its tabs, charts, tables and files, and the ranked lists of a query."""
