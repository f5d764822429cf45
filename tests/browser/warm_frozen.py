"""Imported last by the process that servers are forked from: what it holds is no garbage, and need not be looked through again."""

import gc

gc.collect()
gc.freeze()
