"""The topic map: a linear view of the locations, from where themes are far apart, the same for the same model."""

import json

import numpy as np
import pytest
from handmade import model, random_model
from planted import Papers, planted

from diln.analysis.flat import plane
from diln.analysis.themes import themes
from diln.analysis.topic_map import topic_map


def flat(points):
    return np.array([(point.x, point.y) for point in sorted(points, key=lambda point: point.id)])


def test_positions_are_a_linear_view_of_the_locations():
    fitted, papers, _, _ = planted()
    shown = topic_map(fitted, themes(fitted, 7, papers), papers)
    at, _, _, _ = np.linalg.lstsq(fitted.locations, flat(shown.points), rcond=None)
    assert np.allclose(fitted.locations @ at, flat(shown.points), atol=1e-9)
    ratio = at / shown.projection
    assert np.allclose(ratio, ratio[0, 0]), "documents are seen along the same directions, at a scale of their own"
    assert np.allclose(at.T @ at, at[:, 0] @ at[:, 0] * np.eye(2), atol=1e-9)
    seen, whole = (fitted.topic_weights @ (each**2).sum(axis=1) for each in (fitted.locations @ at, fitted.locations))
    assert shown.explained == pytest.approx(seen / whole / (at[:, 0] @ at[:, 0]))
    assert f"{shown.explained:.0%} of their variance" in shown.note


def test_coordinates_fill_the_square_and_no_more():
    fitted, papers, _, _ = planted(1)
    shown = topic_map(fitted, themes(fitted, 7, papers), papers)
    assert np.sqrt((flat(shown.points) ** 2).sum(axis=1)).max() == pytest.approx(0.95)
    places = shown.place(papers.locations)
    assert places.dtype == np.float32
    assert np.abs(places).max() <= 1
    far = shown.place(1e6 * papers.locations)
    assert np.allclose(np.sqrt((far**2).sum(axis=1)), 1, atol=1e-5)
    assert shown.origin == (0.0, 0.0)
    assert not shown.place(np.zeros((1, 7))).any()


def test_themes_do_not_hide_each_other():
    fitted, papers, _, _ = planted(2)
    centres = flat(topic_map(fitted, themes(fitted, 7, papers), papers).themes)
    apart = np.sqrt(((centres[:, np.newaxis] - centres) ** 2).sum(axis=2))[np.triu_indices(7, 1)]
    widest = np.linalg.svd(fitted.locations - fitted.locations.mean(axis=0))[2][:2].T
    usual = np.array([fitted.locations[group::7].mean(axis=0) for group in range(7)]) @ widest
    usual *= 0.95 / np.abs(fitted.locations @ widest).max()
    nearest = np.sqrt(((usual[:, np.newaxis] - usual) ** 2).sum(axis=2))[np.triu_indices(7, 1)].min()
    assert apart.min() > nearest
    assert apart.min() > 0.2


def test_turning_the_space_changes_nothing():
    fitted, papers, _, _ = planted(3)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((7, 7)))[0]
    moved = model(fitted.topic_word, fitted.posterior.topic_tokens, locations=fitted.locations @ turn)
    turned = Papers(papers.theta, papers.locations @ turn)
    first = topic_map(fitted, themes(fitted, 7, papers), papers)
    second = topic_map(moved, themes(moved, 7, turned), turned)
    assert np.allclose(flat(first.points), flat(second.points), atol=1e-3)
    assert np.allclose(first.place(papers.locations), second.place(turned.locations), atol=1e-3)


def test_the_largest_theme_is_to_the_right_and_above():
    for seed in range(4):
        fitted, papers, _, _ = planted(seed)
        largest = topic_map(fitted, themes(fitted, 7, papers)).themes[0]
        assert largest.x > 0
        assert largest.y > 0


def test_roots_of_distances_are_told_of():
    fitted, papers, _, _ = planted()
    found = themes(fitted, 7, papers)
    plain, spread = topic_map(fitted, found, papers), topic_map(fitted, found, papers, spread=True)
    lengths = [np.sqrt((flat(one.points) ** 2).sum(axis=1)) for one in (plain, spread)]
    assert np.allclose(np.sqrt(lengths[0]), lengths[1])
    assert "square roots" in spread.note
    assert "square roots" not in plain.note
    near = spread.place(papers.locations), plain.place(papers.locations)
    assert np.allclose((near[0] ** 2).sum(axis=1), np.sqrt((near[1] ** 2).sum(axis=1)), atol=1e-5)


def test_a_model_without_locations_has_a_map_that_says_so():
    fitted, papers, group, _ = planted(located=False)
    shown = topic_map(fitted, themes(fitted, 7, papers), papers)
    assert shown.projection is None
    assert "no locations" in shown.note
    assert "same documents" in shown.note
    assert 0 < shown.explained <= 1
    places = flat(shown.points)
    near = [np.delete(((places - one) ** 2).sum(axis=1), k).argmin() for k, one in enumerate(places)]
    again = np.mean([group[at + (at >= k)] == group[k] for k, at in enumerate(near)])
    assert again > 0.9
    assert "similar words" in topic_map(fitted, themes(fitted, 7)).note
    with pytest.raises(ValueError, match="the model has no locations"):
        shown.place(np.zeros((1, 2)))


@pytest.mark.parametrize("n_topics", [1, 2, 3])
@pytest.mark.parametrize("n_dims", [0, 1, 2, 5])
def test_few_topics_and_few_dimensions_have_a_map(n_topics, n_dims):
    rng = np.random.default_rng(0)
    locations = rng.standard_normal((n_topics, n_dims)) if n_dims else None
    fitted = model(rng.dirichlet(np.ones(9), n_topics), locations=locations, kind="DILN" if n_dims else "LDA")
    shown = topic_map(fitted, themes(fitted))
    assert len(shown.points) == n_topics
    assert np.isfinite(flat(shown.points)).all()
    assert 0 <= shown.explained <= 1
    assert json.loads(json.dumps(shown.to_json()))["points"][0]["id"] == shown.points[0].id


def test_locations_of_zero_have_a_map():
    fitted = model(np.eye(4) + 0.1, locations=np.zeros((4, 3)))
    shown = topic_map(fitted, themes(fitted, 2))
    assert np.isfinite(flat(shown.points)).all()


def test_merged_topics_are_where_their_parts_are_on_average():
    fitted = random_model(0)
    found = themes(fitted, 2, merges=[[0, 3]])
    shown = topic_map(fitted, found, merges=[[0, 3]])
    assert [point.id for point in sorted(shown.points, key=lambda one: one.id)] == [0, 1, 2, 4, 5]


def test_locations_of_another_shape_are_named():
    fitted, papers, _, _ = planted()
    with pytest.raises(ValueError, match=r"give \(n_docs, 7\)"):
        topic_map(fitted, themes(fitted, 2)).place(papers.locations[:, :3])


def test_directions_are_orthonormal_and_no_worse_than_those_of_most_variance():
    rng = np.random.default_rng(0)
    points, sizes = rng.standard_normal((40, 5)), rng.uniform(1, 2, 40)
    centres = points[:8]
    found = plane(points, sizes, centres)
    assert np.allclose(found.T @ found, np.eye(2))
    usual = np.linalg.eigh((points * sizes[:, np.newaxis]).T @ points)[1][:, ::-1][:, :2]

    def apart(axes):
        at = centres @ axes
        squares = ((at[:, np.newaxis] - at) ** 2).sum(axis=2)[np.triu_indices(8, 1)]
        return np.log(squares + 0.01 * (centres**2).sum(axis=1).mean()).sum()

    assert apart(found) > apart(usual)
    around = [np.linalg.qr(found + 0.01 * rng.standard_normal((5, 2)))[0] for _ in range(50)]
    assert all(apart(one) <= apart(found) + 1e-6 for one in around)
