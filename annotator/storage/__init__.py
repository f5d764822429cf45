"""The only room that knows SQL: tables, engine and transactions, migrations, and what is current."""
