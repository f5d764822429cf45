"""Give documents new ids, with everything stored under the old ones."""
