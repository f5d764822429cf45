"""Files from a browser: stored, unpacked, recognised, previewed and imported as the user chose."""
