"""What all tests need."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> Iterator[None]:
    """Have Ctrl-C work, here and in processes that tests start, even where a shell runs the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
