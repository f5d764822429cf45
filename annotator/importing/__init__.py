"""Import files into the database, convert files between evaluators, and give documents and queries new ids."""
