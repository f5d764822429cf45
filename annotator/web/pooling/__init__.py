"""The page Pool, and proposals over REST."""
