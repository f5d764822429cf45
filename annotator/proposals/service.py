"""What an annotator does when the pool has missed a document: search the documents, propose one with a first grade.

Stands beside labeling. The pair joins the pool, goes to the others blind, and leads see what proposals add.
"""
