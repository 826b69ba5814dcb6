"""Themes: planted groups are found, cuts are nested, and nothing but the model and its documents matters."""

import json
from itertools import pairwise

import numpy as np
import pytest
from handmade import model
from planted import DIMS, GROUPS, Papers, planted
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.metrics import adjusted_rand_score

from diln.analysis.themes import Grouping, themes
from diln.analysis.themes.document_themes import document_groups
from diln.analysis.themes.kmeans import kmeans, scatter
from diln.analysis.themes.names import alike, names
from diln.analysis.themes.number import automatic


def same_groups(first, second) -> bool:
    """Whether two lists of labels mean the same groups."""
    pairs = set(zip(first, second, strict=True))
    return len(pairs) == len(set(first)) == len(set(second))


def parts(found):
    return {frozenset(theme.topics) for theme in found.themes}


def test_planted_groups_of_topics_and_documents_are_found():
    fitted, papers, group, of_docs = planted()
    found = themes(fitted, GROUPS, papers)
    assert same_groups([found.topic_theme[k] for k in range(len(group))], group)
    assert np.mean(found.document_theme == np.array([found.topic_theme[k] for k in range(GROUPS)])[of_docs]) > 0.97
    assert sum(theme.n_docs for theme in found.themes) == papers.n_docs


@pytest.mark.parametrize("located", [True, False])
def test_the_rule_finds_as_many_themes_as_were_planted(located):
    fitted, papers, group, _ = planted(located=located)
    found = themes(fitted, documents=papers)
    assert found.auto
    assert found.n == GROUPS
    assert same_groups([found.topic_theme[k] for k in range(len(group))], group)


def test_planted_groups_are_found_by_the_model_alone():
    fitted, _, group, _ = planted()
    found = themes(fitted)
    assert found.n == GROUPS
    assert same_groups([found.topic_theme[k] for k in range(len(group))], group)
    assert found.document_theme is None
    assert found.themes[0].n_docs is None


@pytest.mark.parametrize("with_documents", [True, False])
def test_themes_of_more_lie_inside_themes_of_fewer(with_documents):
    fitted, papers, group, _ = planted(1)
    grouping = Grouping(fitted, papers if with_documents else None)
    before, of_docs = None, None
    for n in range(1, len(group) + 1):
        found = grouping.themes(n)
        assert found.n == len(found.themes) == n
        assert sorted(topic for theme in found.themes for topic in theme.topics) == list(range(len(group)))
        if before is not None:
            assert all(sum(one <= larger for larger in before) == 1 for one in parts(found))
        before = parts(found)
        if with_documents:
            if of_docs is not None:
                assert len(set(zip(of_docs, found.document_theme, strict=True))) <= n
            of_docs = found.document_theme


def test_documents_are_grouped_one_by_one_as_they_are_together():
    fitted, papers, _, _ = planted(2)
    whole = Grouping(fitted, papers)
    for n in (3, 9, 26, 28):
        assert np.array_equal(whole.themes(n).document_theme, themes(fitted, n, papers).document_theme)
    many = themes(fitted, 28, papers)
    assert many.n == 28


def test_words_tell_documents_apart_where_they_are_known():
    fitted, papers, _, of_docs = planted(6)
    rng = np.random.default_rng(0)
    papers.locations[:] = rng.standard_normal(papers.locations.shape)
    papers.theta[:] = 0.2 * papers.theta + 0.8 * rng.dirichlet(np.full(papers.theta.shape[1], 0.3), papers.n_docs)
    found = [themes(fitted, GROUPS, papers)]
    papers.word_places = (100 * np.eye(GROUPS)[of_docs] + rng.normal(0, 10, (papers.n_docs, GROUPS))).astype(np.int8)
    found.append(themes(fitted, GROUPS, papers))
    before, after = (adjusted_rand_score(one.document_theme, of_docs) for one in found)
    assert after > 0.8
    assert after > before + 0.2


def test_shares_of_a_document_are_sums_over_topics():
    fitted, papers, _, _ = planted()
    found = themes(fitted, 5, papers)
    for theme in found.themes:
        assert np.allclose(
            found.document_shares[:, theme.id], papers.theta[:, list(theme.topics)].sum(axis=1), atol=1e-5
        )
    assert np.allclose(found.document_shares.sum(axis=1), 1, atol=1e-5)
    assert sum(theme.share for theme in found.themes) == pytest.approx(1)
    assert [theme.share for theme in found.themes] == sorted((theme.share for theme in found.themes), reverse=True)


def test_the_same_model_gives_the_same_themes_again():
    first, second = (themes(*planted(3)[:1], "auto", planted(3)[1]) for _ in range(2))
    assert first.themes == second.themes
    assert np.array_equal(first.document_theme, second.document_theme)
    assert np.array_equal(first.tree.linkage, second.tree.linkage)


@pytest.mark.parametrize("with_documents", [True, False])
def test_turning_the_space_and_shuffling_topics_change_nothing(with_documents):
    fitted, papers, group, _ = planted(4)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((DIMS, DIMS)))[0]
    order = np.random.default_rng(1).permutation(len(group))
    moved = model(
        fitted.topic_word[order], fitted.posterior.topic_tokens[order], fitted.vocabulary,
        fitted.locations[order] @ turn,
    )  # fmt: skip
    turned = Papers(papers.theta[:, order], (papers.locations @ turn).astype(np.float32))
    one = themes(fitted, 9, papers if with_documents else None)
    other = themes(moved, 9, turned if with_documents else None)
    assert parts(one) == {frozenset(int(order[k]) for k in part) for part in parts(other)}
    if with_documents:
        assert same_groups(one.document_theme, other.document_theme)


def test_the_tree_is_one_that_scipy_takes():
    from scipy.cluster.hierarchy import fcluster, is_monotonic, is_valid_linkage, leaves_list

    fitted, papers, group, _ = planted(5)
    found = themes(fitted, 7, papers)
    assert is_valid_linkage(found.tree.linkage, throw=True)
    assert is_monotonic(found.tree.linkage)
    cut = fcluster(found.tree.linkage, 7, "maxclust")
    assert same_groups(cut, [found.topic_theme[topic] for topic in found.tree.topics])
    assert sorted(found.tree.order) == sorted(found.tree.topics) == list(range(len(group)))
    assert len(leaves_list(found.tree.linkage)) == len(group)
    in_order = [found.topic_theme[topic] for topic in found.tree.order]
    assert sum(a != b for a, b in pairwise(in_order)) == 6, "a theme is in several pieces"


def test_hidden_topics_are_in_no_theme_and_merged_ones_are_one():
    fitted, papers, group, _ = planted()
    shown = [k for k in range(len(group)) if k not in (3, 8)]
    found = themes(fitted, 7, papers, topics=shown, merges=[[0, 8]])
    assert set(found.topic_theme) == set(shown)
    alone = themes(fitted, 7, papers, merges=[[0, 7]])
    assert 7 not in alone.topic_theme
    assert alone.topic_theme[0] == alone.topic_theme[14]
    with pytest.raises(ValueError, match="topic 7 is merged into topic 0"):
        themes(fitted, 7, papers, topics=[0, 7], merges=[[0, 7]])


def members(found):
    return {theme.id: set(theme.topics) for theme in found.themes}


@pytest.mark.parametrize("with_documents", [True, False])
def test_a_theme_keeps_its_number_and_its_topics_whatever_is_hidden_elsewhere(with_documents):
    fitted, papers, group, _ = planted()
    grouping = Grouping(fitted, papers if with_documents else None)
    before, every = grouping.themes(7), list(range(len(group)))
    for hidden in every:
        after = grouping.edited([one for one in every if one != hidden]).themes(7)
        assert members(after) == {number: topics - {hidden} for number, topics in members(before).items()}
        assert [theme.share for theme in after.themes] == sorted((theme.share for theme in after.themes), reverse=True)
        if with_documents:
            assert np.array_equal(after.document_theme, before.document_theme)
            rows = after.shares_of(range(9))
            for at, theme in enumerate(after.themes):
                assert np.allclose(rows[:, at], papers.theta[:9, list(theme.topics)].sum(axis=1), atol=1e-6)


def test_a_merged_topic_stays_in_the_theme_of_the_one_that_is_kept():
    fitted, papers, group, _ = planted()
    grouping = Grouping(fitted, papers)
    before, kept, other = grouping.themes(7), 0, 1
    assert before.topic_theme[kept] != before.topic_theme[other]
    after = grouping.edited([one for one in range(len(group)) if one != other], [[kept, other]]).themes(7)
    assert members(after) == {number: topics - {other} for number, topics in members(before).items()}
    share = fitted.topic_weights[[kept, other]].sum()
    theme = after.theme(after.topic_theme[kept])
    assert theme.share == pytest.approx(before.theme(theme.id).share + fitted.topic_weights[other])
    assert share < theme.share


def test_a_theme_all_of_whose_topics_are_hidden_leaves_a_gap_or_is_replaced():
    fitted, papers, group, _ = planted()
    grouping = Grouping(fitted, papers)
    before = grouping.themes("auto")
    gone = before.themes[2]
    left = grouping.edited([one for one in range(len(group)) if one not in gone.topics])
    after = left.themes("auto")
    assert members(after) == {number: topics for number, topics in members(before).items() if number != gone.id}
    assert after.n == before.n - 1
    assert (after.document_theme[before.document_theme == gone.id] == -1).all()
    with pytest.raises(ValueError, match="all topics of theme 2 are hidden"):
        after.theme(2)
    with pytest.raises(ValueError, match=f"there are 0 to {before.n - 1}"):
        after.theme(99)
    exact = left.themes(before.n)
    assert exact.n == before.n
    assert sorted(members(exact)) == list(range(before.n)), "the number that is free goes to half of a theme"
    same = [number for number, topics in members(after).items() if members(exact)[number] == topics]
    assert len(same) == before.n - 2
    fewest = grouping.edited([int(gone.topics[0])])
    assert fewest.themes().n == fewest.themes(1).n == 1
    assert fewest.tree.linkage.shape == (0, 4)


@pytest.mark.parametrize("with_documents", [True, False])
def test_any_number_of_themes_can_be_had_of_edited_topics(with_documents):
    fitted, papers, group, _ = planted()
    shown = [one for one in range(len(group)) if one % 5 and one != 3]
    edited = Grouping(fitted, papers if with_documents else None).edited(shown, [[1, 3], [2, 0]])
    for n in range(1, len(shown) + 1):
        found = edited.themes(n)
        assert found.n == n == len(found.themes)
        assert sorted(topic for theme in found.themes for topic in theme.topics) == shown
        assert sum(theme.share for theme in found.themes) == pytest.approx(fitted.topic_weights[[*shown, 0, 3]].sum())
    assert is_valid_linkage(edited.tree.linkage)
    assert sorted(edited.tree.order) == shown
    with pytest.raises(ValueError, match="at most as many themes"):
        edited.themes(len(shown) + 1)


def test_small_topics_that_are_shown_once_merged_go_where_topics_have_such_words():
    words = np.random.default_rng(0).dirichlet(np.full(40, 0.05), 12) + 1e-9
    words[10:] = words[3]  # two that are too small to be in use
    fitted = model(words, np.append(np.full(10, 1000.0), [12.0, 12.0]))
    whole = Grouping(fitted)
    assert 10 not in whole.themes(4).topic_theme
    edited = whole.edited([*range(10), 10], [[10, 11]])
    assert edited.beside[10] == 3
    for n in (2, 4, 8):
        assert edited.themes(n).topic_theme[10] == edited.themes(n).topic_theme[3]
    assert edited.themes(11).n == 11


def test_shares_of_documents_are_made_when_they_are_asked_for():
    fitted, papers, _, _ = planted()
    found = themes(fitted, 5, papers)
    every = found.document_shares
    papers.theta[3] = 0
    assert np.array_equal(found.shares_of([7, 1]), every[[7, 1]])
    assert not found.shares_of([3]).any()
    assert every[3].any()
    with pytest.raises(ValueError, match="there is no row"):
        found.shares_of([papers.n_docs])
    alone = themes(fitted, 5)
    assert alone.document_shares is None
    with pytest.raises(ValueError, match="without documents"):
        alone.shares_of([0])


def test_documents_are_looked_through_once_for_all_large_numbers_of_themes(monkeypatch):
    fitted, papers, _, _ = planted()
    asked = []
    monkeypatch.setattr("diln.analysis.themes.find.FINE", 4)
    monkeypatch.setattr(
        "diln.analysis.themes.find.document_groups", lambda *given: asked.append(given[-1]) or document_groups(*given)
    )
    grouping = Grouping(fitted, papers)
    many = {n: grouping.themes(n).document_theme for n in (3, 2, 9, 6, 12)}
    assert asked == [4, len(grouping.tree.topics)]
    monkeypatch.undo()
    assert all(np.array_equal(found, themes(fitted, n, papers).document_theme) for n, found in many.items())


def test_empty_documents_have_no_theme():
    fitted, papers, _, _ = planted()
    papers.theta[[0, 5]] = 0
    found = themes(fitted, 5, papers)
    assert found.document_theme[[0, 5]].tolist() == [-1, -1]
    assert not found.document_shares[[0, 5]].any()
    assert found.document_theme[1:5].min() >= 0
    papers.theta[:] = 0
    none = themes(fitted, 5, papers)
    assert none.themes[0].n_docs == 0
    assert (none.document_theme == -1).all()


@pytest.mark.parametrize("n_topics", [1, 2, 3, 9])
@pytest.mark.parametrize("kind", ["DILN", "HDP"])
def test_few_topics_have_themes_too(n_topics, kind):
    rng = np.random.default_rng(0)
    locations = rng.standard_normal((n_topics, 3)) if kind == "DILN" else None
    fitted = model(rng.dirichlet(np.ones(20), n_topics), locations=locations, kind=kind)
    papers = Papers(rng.dirichlet(np.ones(n_topics), 30), None if locations is None else rng.standard_normal((30, 3)))
    for documents in (None, papers):
        found = themes(fitted, documents=documents)
        assert 1 <= found.n <= n_topics
        assert len(found.tree.linkage) == n_topics - 1
        for n in range(1, n_topics + 1):
            assert themes(fitted, n, documents).n == n
    with pytest.raises(ValueError, match=f"n is {n_topics + 1}, but {n_topics} topics? (is|are) shown"):
        themes(fitted, n_topics + 1)


def test_topics_that_nothing_tells_apart_are_one_theme():
    even = np.ones((12, 8))
    assert themes(model(even, locations=np.zeros((12, 2)))).n == 1
    assert themes(model(even, kind="LDA")).n == 1
    same = Papers(np.full((20, 12), 1 / 12), np.zeros((20, 2)))
    assert themes(model(even, locations=np.zeros((12, 2))), documents=same).n == 1
    assert themes(model(even, kind="LDA"), 4).n == 4


def test_models_without_locations_and_documents_are_grouped_by_words():
    rows = np.full((12, 40), 1e-3)
    for k in range(12):
        rows[k, (k % 3) * 12 : (k % 3) * 12 + 10] += np.random.default_rng(k).uniform(0.5, 1, 10)
    found = themes(model(rows, kind="LDA"), 3)
    assert same_groups([found.topic_theme[k] for k in range(12)], [k % 3 for k in range(12)])


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "many", None])
def test_odd_numbers_of_themes_are_named(n):
    with pytest.raises(ValueError, match=r'^n is .*; give a whole number from 1 on, or "auto"$'):
        themes(planted()[0], n)


@pytest.mark.parametrize("topics", [[99], [-1], [1.5], ["a"], [True]])
def test_unknown_topics_are_named(topics):
    with pytest.raises(ValueError, match=r"there is no topic .*; the model has 0 to 27"):
        themes(planted()[0], 3, topics=topics)
    with pytest.raises(ValueError, match="no topic is shown"):
        themes(planted()[0], 3, topics=[])


def test_records_become_json():
    fitted, papers, _, _ = planted()
    told = json.loads(json.dumps(themes(fitted, 3, papers).to_json()))
    assert told["n"] == len(told["themes"]) == 3
    assert set(told["topic_theme"]) == {str(k) for k in range(28)}
    assert len(told["tree"]["linkage"]) == 27


def test_a_word_names_one_theme_and_is_there_in_one_form():
    terms = "court courts judge said goal goals match".split()
    joint = np.array([[0.1, 0.09, 0.08, 0.1, 0.001, 0.001, 0.001], [0.001, 0.001, 0.01, 0.09, 0.1, 0.1, 0.05]])
    assert names(joint, terms, 2) == [("court", "judge"), ("goal", "match")]
    assert names(joint, terms, 3)[0][2] == "said"
    assert alike("study", "studies")
    assert not alike("art", "article")


def test_as_many_themes_as_are_worth_it():
    assert automatic(np.array([5, 4, 3, 2, 1.0, 0.8, 0.75, 0.2, 0.1, *[0.0] * 10])) == 8
    assert automatic(np.array([5, 4, 3, 2, 1.0, 0.8, 0.75, 0.2, 0.1, *[0.0] * 4])) == 7  # half as many as topics
    assert automatic(np.ones(9)) == 5  # of ten broad topics
    assert automatic(np.full(30, 1.0)) == 15
    assert automatic(np.array([1.0, 0.5])) == 3
    assert automatic(np.zeros(20)) == 1
    assert automatic(np.array([])) == 1


def test_kmeans_scatters_no_more_than_other_groups_do():
    rng = np.random.default_rng(0)
    points, weights = rng.standard_normal((60, 2)), rng.uniform(0.5, 2, 60)
    points[:20] += 6
    group = kmeans(points, weights, 2)
    assert same_groups(group, np.arange(60) < 20)
    least = scatter(points, weights, group)
    by_hand = sum(
        float(
            weights[group == one]
            @ ((points[group == one] - np.average(points[group == one], 0, weights[group == one])) ** 2).sum(1)
        )
        for one in (0, 1)
    )
    assert least == pytest.approx(by_hand)
    for at in range(60):
        other = group.copy()
        other[at] = 1 - other[at]
        assert scatter(points, weights, other) > least
    assert kmeans(np.zeros((5, 2)), np.ones(5), 3).max() == 0


def test_two_numbers_of_themes_that_are_asked_for_at_once_do_not_mix(monkeypatch):
    rng = np.random.default_rng(0)
    fitted = model(rng.dirichlet(np.full(200, 0.05), 60) + 1e-9, np.full(60, 100.0))
    papers = Papers(rng.dirichlet(np.full(60, 0.05), 300).astype(np.float32))
    wanted = Grouping(fitted, papers).themes(5).document_theme
    grouping, asked = Grouping(fitted, papers), []
    real = type(grouping._hierarchy).groups

    def meanwhile(self, n):
        if not asked and grouping._fine is not None:
            asked.append(50)
            grouping.themes(50)
        return real(self, n)

    monkeypatch.setattr(type(grouping._hierarchy), "groups", meanwhile)
    assert grouping.themes(5).document_theme.tolist() == wanted.tolist()
    assert asked
