"""Documents that the pool missed: found by an annotator, proposed as a pair."""
