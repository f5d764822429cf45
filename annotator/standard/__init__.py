"""The standard that annotators work by: versions of the rubric and guideline, and answers given under an older one."""
