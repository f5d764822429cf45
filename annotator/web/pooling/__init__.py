"""Draw the page Pool, and answer proposals over REST."""
