"""Imported last by the process that servers are forked from: does once what each of them would do at its first page."""

import gc
import inspect

from annotator.people import credentials
from tests.quick_hasher import make_quick_hasher

credentials._make_hasher = make_quick_hasher  # type: ignore[assignment]
inspect.stack()  # as Streamlit does: it looks for the file of every module, and remembers them
gc.collect()
gc.freeze()  # what is here is no garbage, and need not be looked through again
