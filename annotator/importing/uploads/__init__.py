"""Files from a browser: stored, unpacked, recognized, previewed and imported with the user's choices."""
