"""Folders of corpora, models and checkpoints, with checksums left wrong and with checksums mended."""

from typing import Any

import numpy as np

import diln
from diln import Corpus, analysis
from diln.models.checkpoints import Checkpoints
from diln.models.fitting import fit
from fuzz import folders
from fuzz.case import Case, Run, target
from fuzz.judge import WrongError
from fuzz.mutate import octets
from fuzz.seeds import SOURCES, WORDS, checked, counts, read, seeds, stream, write
from fuzz.targets.readers import TEXT, looked_at


def asked(model: Any, rows: Any) -> list[Any]:
    """All that a model says of itself, and of some documents."""
    found = [
        model.topic_word_,
        model.components_,
        model.topic_weights_,
        model.n_topics_,
        model.vocabulary_,
        model.n_iter_,
    ]
    found += [
        model.history_ is not None,
        model.learning_method_,
        proportions(model.transform(rows)),
        above_one(model.perplexity(rows)),
    ]
    for name in ("topic_covariance_", "topic_lift_", "topic_correlation_", "alpha_", "beta_", "topic_locations_"):
        if hasattr(model, name):
            found.append(getattr(model, name))
    found += [[topic.weight for topic in analysis.largest_topics(model)], analysis.effective_topics(model)]
    if hasattr(model, "topic_correlation_"):
        found.append([(pair.lift, pair.correlation) for pair in analysis.correlated_pairs(model, unsure=True).positive])
    return found


def proportions(theta: Any) -> Any:
    """Rows that sum to 1, and no share below 0."""
    if np.isfinite(theta).all() and ((theta < 0).any() or (abs(theta.sum(axis=1) - 1) > 1e-5).any()):
        raise WrongError("proportions: they do not sum to 1")
    return theta


def above_one(perplexity: float) -> float:
    """A perplexity, which is at least 1."""
    if perplexity < 1 - 1e-9:
        raise WrongError("perplexity: below 1")
    return perplexity


@target(6, strict=True)
def corpus_folder(case: Case) -> Run:
    """A spoilt corpus, opened and read whole."""
    known = seeds().corpora
    name = case.rng.choice(sorted(known))
    write(folders.spoilt(case.spoiling, known[name], case.rounds, list(known.values())), case.folder / "corpus")
    check = case.rng.random() < 0.3
    return lambda: looked_at(Corpus.open(case.folder / "corpus", check=check))


@target(2, strict=True)
def corpus_folder_used(case: Case) -> Run:
    """A spoilt corpus, transformed, fitted to, cut and saved."""
    known = seeds().corpora
    name, how = case.rng.choice(sorted(known)), case.rng.randrange(5)
    write(folders.spoilt(case.spoiling, known[name], case.rounds, list(known.values())), case.folder / "corpus")
    model = seeds().estimators[case.rng.choice(sorted(seeds().estimators))]

    def run() -> object:
        corpus = Corpus.open(case.folder / "corpus")
        if how == 0:
            return model.transform(corpus)
        if how == 1:
            return diln.LDA(2, max_iter=1, random_state=0).fit(corpus).topic_word_
        if how == 2:
            return looked_at(corpus[::-1].save(case.folder / "copy"))
        if how == 3:
            return [part.counts for part in corpus.split(0, 1)]
        return analysis.quality(model, corpus, 3).to_json()

    return run


@target(8, strict=True)
def model_folder(case: Case) -> Run:
    """A spoilt model, loaded and asked for all that it knows."""
    known = seeds().models
    name, rows = case.rng.choice(sorted(known)), counts(4, seed=1)
    write(folders.spoilt(case.spoiling, known[name], case.rounds, list(known.values())), case.folder / "model")
    return lambda: asked(diln.load(case.folder / "model"), rows)


@target(2, strict=True)
def model_folder_used(case: Case) -> Run:
    """A spoilt model that goes on learning, and is saved in place of itself."""
    known = seeds().models
    name, rows = case.rng.choice(sorted(known)), counts(4, seed=1)
    write(folders.spoilt(case.spoiling, known[name], case.rounds, list(known.values())), case.folder / "model")

    def run() -> object:
        model = diln.load(case.folder / "model")
        model.partial_fit(rows)
        model.save(case.folder / "model")
        return asked(diln.load(case.folder / "model"), rows)

    return run


@target(2, strict=True)
def model_folder_updated(case: Case) -> Run:
    """A spoilt model that has followed a stream, and goes on with it."""
    known = seeds().updated
    name = case.rng.choice(sorted(known))
    write(folders.spoilt(case.spoiling, known[name], case.rounds, list(known.values())), case.folder / "model")

    def run() -> object:
        model = diln.load(case.folder / "model")
        model.update(stream())
        model.save(case.folder / "model")
        again = diln.load(case.folder / "model")
        return [again.topic_word_, again.topic_weights_]

    return run


@target(2, strict=True)
def checkpoint_folder(case: Case) -> Run:
    """A fit that is taken up from a spoilt checkpoint."""
    known = seeds().checkpoints
    name = case.rng.choice(sorted(known))
    parameters, files = known[name]
    others = [sound for _, sound in known.values()]
    write(folders.spoilt(case.spoiling, files, case.rounds, others), case.folder / "m.checkpoint")
    checkpoints = Checkpoints(case.folder / "m.checkpoint", 1e9, resume=True)

    def run() -> object:
        fitted = fit(parameters, checked(counts()), WORDS, None, checkpoints)
        return [fitted.topic_word, fitted.topic_weights]

    return run


@target(1, strict=True)
def model_folder_written(case: Case) -> Run:
    """A model saved over a spoilt folder, links and others' files among it: nothing of others is changed."""
    known = seeds().models
    name, rng = case.rng.choice(sorted(known)), case.rng
    model, folder = seeds().estimators[name], case.folder / "model"
    write(folders.spoilt(case.spoiling, known[name], case.rounds, list(known.values())), folder)
    for link in ("manifest.json.new", "g0002-tensors.safetensors", "g0002-terms.json", ".lock", "manifest.json"):
        if rng.random() < 0.2:
            (folder / link).unlink(missing_ok=True)
            (folder / link).symlink_to(
                rng.choice(("../../beside/victim.txt", "../../beside/nothing.txt", "../../beside"))
            )
    return lambda: model.save(folder)


@target(1, strict=True)
def build_and_append(case: Case) -> Run:
    """A corpus built or extended from a spoilt file: what was there stays where that fails."""
    name = case.rng.choice(TEXT)
    path = case.write(name, octets.spoilt(case.spoiling, SOURCES[name], case.rounds))
    folder, how = case.folder / "corpus", case.rng.choice(("build", "replace", "append", "grow"))
    if how != "build":
        write(seeds().corpora["texts"], folder)
    before = read(folder) if how != "build" else {}

    def run() -> object:
        try:
            if how in ("append", "grow"):
                return looked_at(diln.corpus.append(path, folder, grow=how == "grow"))
            return looked_at(diln.corpus.build(path, folder, overwrite=how == "replace"))
        except Exception:
            unchanged(before, read(folder) if folder.exists() else {})
            raise

    return run


def unchanged(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Raise if a failed write left anything else than what was there; locks may stay."""
    left = {name for name in {*before, *after} if before.get(name) != after.get(name) and not name.endswith(".lock")}
    if left:
        raise WrongError(f"changed by a write that failed: {sorted(left)}")
