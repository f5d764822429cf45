"""Documents got new ids: what was judged of them is carried over, or suggested again."""
