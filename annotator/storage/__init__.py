"""Read and write the database: tables, engine and transactions, migrations, and what several slices read."""
