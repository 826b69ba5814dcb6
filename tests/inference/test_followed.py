"""Pairs of topics are followed through whatever numbers they come to have, and called by the last ones in a model."""

import numpy as np
import pytest

from diln import CTM, DILN, HDP, Sampling, Variational, load
from diln.inference.followed import N_PAIRS, Followed, follow, pair_of, rename_pairs
from diln.inference.sampling.chain import Chain

TOKENS = np.array([50.0, 0.0, 40, 30, 20, 10])


def some() -> Followed:
    return Followed.chosen(TOKENS, 3)


def test_pairs_are_of_topics_in_use_and_each_is_there_once():
    pairs = [tuple(pair) for pair in some().first.tolist()]
    assert len(pairs) == len(set(pairs)) == 10  # all that there are
    assert all(one < other and 1 not in (one, other) for one, other in pairs)
    assert len(Followed.chosen(np.ones(50), 0).first) == N_PAIRS
    assert not np.array_equal(Followed.chosen(np.ones(50), 0).first, Followed.chosen(np.ones(50), 1).first)
    assert not len(Followed.chosen(np.array([3.0]), 0).first)


def test_correlations_are_those_of_locations_or_of_a_covariance():
    rng = np.random.default_rng(0)
    locations = rng.normal(size=(6, 3))
    covariance = locations @ locations.T
    lengths = np.sqrt(np.diag(covariance))
    found = some().correlations(locations)
    assert found == some().correlations(np.zeros((6, 0)), covariance)
    for name, value in found.items():
        one, other = pair_of(name)
        assert value == pytest.approx(covariance[one, other] / lengths[one] / lengths[other], abs=1e-4)
    locations[0] = 0  # not told from the origin
    assert all(value == 0 for name, value in some().correlations(locations).items() if 0 in pair_of(name))
    assert follow(Followed.none(), 0, TOKENS, np.zeros((6, 0)), lambda: None)[1] == {}


def test_numbers_change_and_names_do_not_until_the_end():
    rng = np.random.default_rng(1)
    locations, known = rng.normal(size=(6, 3)), some()
    before = known.correlations(locations)
    order = np.array([4, 0, 2, 3])  # 1 and 5 are gone
    now = known.kept(order)
    found = now.correlations(locations[order])
    assert found == {name: before[name] for name in before if 5 not in pair_of(name)}
    again = Followed.restored(now.stored())
    assert np.array_equal(again.first, now.first)
    assert np.array_equal(again.now, now.now)
    history = [{"correlations": before}, {"correlations": found}, {"correlations": {}}]
    rename_pairs(history, again.kept(np.arange(4)))
    names = {0: 1, 2: 2, 3: 3, 4: 0}
    for name, value in found.items():
        one, other = sorted(names[topic] for topic in pair_of(name))
        assert history[0]["correlations"][f"{one}-{other}"] == history[1]["correlations"][f"{one}-{other}"] == value
    assert len(history[0]["correlations"]) == len(found) == 6
    assert Followed.named(history[1]["correlations"]).correlations(locations[order]) == history[1]["correlations"]


def counts() -> np.ndarray:
    rng = np.random.default_rng(2)
    topics = rng.dirichlet(np.full(40, 0.1), 6)
    return np.stack([rng.multinomial(40, rng.dirichlet(np.full(6, 0.3)) @ topics) for _ in range(80)])


MODELS = {
    "DILN": DILN(random_state=0, max_iter=40, inference=Sampling(n_states=5)),
    "DILN online": DILN(n_components=8, random_state=0, learning_method="online", inference=Sampling(batch_size=20)),
    "DILN variational": DILN(n_components=6, random_state=0, max_iter=5, inference=Variational()),
    "CTM": CTM(n_components=5, random_state=0, max_iter=30, inference=Sampling(n_states=5)),
    "CTM variational": CTM(n_components=5, random_state=0, max_iter=4, inference=Variational()),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_history_of_a_model_ends_with_pairs_of_its_own_topics(model, tmp_path):
    model.fit(counts())
    last = model.history_[-1]["correlations"]
    assert 0 < len(last) <= N_PAIRS
    names = list(last)
    along = [list(entry["correlations"]) for entry in model.history_ if entry["correlations"]]
    assert len(along) > 1
    assert all(set(some) == set(names) for some in along)
    assert all(0 <= one < other < len(model.components_) for one, other in map(pair_of, names))
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").history_ == model.history_


def test_the_last_of_a_pass_is_what_the_model_says():
    model = MODELS["DILN variational"].fit(counts())
    for name, value in model.history_[-1]["correlations"].items():
        assert value == pytest.approx(model.topic_correlation_[pair_of(name)], abs=2e-4)


def test_a_chain_that_drops_topics_follows_the_others(monkeypatch):
    kept = []
    keep = Chain.keep
    monkeypatch.setattr(Chain, "keep", lambda self, topics: (kept.append(len(topics)), keep(self, topics))[1])
    monkeypatch.setattr("diln.inference.sampling.prune.DUST", 0.02)
    model = DILN(random_state=0, max_iter=60, inference=Sampling(n_states=3, warm_up=5)).fit(counts())
    assert len(set(kept)) > 1
    state = model.history_[-1]["correlations"]
    averaged = model.topic_correlation_
    signs = [np.sign(value) == np.sign(averaged[pair_of(name)]) for name, value in state.items() if abs(value) > 0.6]
    assert np.mean(signs) > 0.9


def test_a_model_without_correlations_has_none():
    model = HDP(random_state=0, max_iter=10, inference=Sampling(n_states=2)).fit(counts())
    assert all(entry["correlations"] == {} for entry in model.history_)
