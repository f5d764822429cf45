"""A hasher of passwords for tests: a hundred times quicker, since none but the tests of the hasher needs it slow."""

from functools import cache

from argon2 import PasswordHasher


@cache
def make_quick_hasher() -> PasswordHasher:
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
