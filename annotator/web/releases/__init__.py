"""Draw the page Releases, and send the files of a release over HTTP."""
