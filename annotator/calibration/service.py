"""What leads do to train annotators and to see whether they keep to the standard: mark pairs, read the results.

None of these judgments enters agreement or qrels. Annotators are told that such checks exist, never which pair is one.
"""
