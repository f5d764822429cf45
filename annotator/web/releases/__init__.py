"""The page Releases, and the files of a release over HTTP."""
