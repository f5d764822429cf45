"""Import pairs, judgments and earlier ground truths, with what their importer declares about them."""
