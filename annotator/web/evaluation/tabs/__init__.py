"""The tabs of the Evaluation page: one file for each, drawn only while it is open."""
