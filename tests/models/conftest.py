"""What tests of fits on a real cluster share."""

import numpy as np
import pytest
from clusters import processes

from diln.inference.sampling import documents
from diln.models import recovery


@pytest.fixture(scope="module")
def cluster():
    """A client, and its two worker processes."""
    with processes(2) as found:
        yield found


@pytest.fixture
def many_small_shards(monkeypatch):
    """Small shards, whose state is kept after every sweep."""
    monkeypatch.setattr(documents, "SHARD", 1_000)
    monkeypatch.setattr(recovery, "EVERY", 0.0)
    monkeypatch.setattr(recovery, "SHARE", np.inf)
