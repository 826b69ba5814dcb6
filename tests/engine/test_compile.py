from numba.core import caching

from diln.engine.compile import compiled


def double(x):
    return 2 * x


def test_a_loop_is_compiled_and_kept():
    loop = compiled(double)
    assert loop(21) == 42
    assert loop.nopython_signatures
    assert sum(loop.stats.cache_hits.values()) + sum(loop.stats.cache_misses.values()) == 1


def test_where_nothing_can_be_written_a_loop_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    loop = compiled(double)
    assert loop(21) == 42
    assert not loop.stats.cache_path
