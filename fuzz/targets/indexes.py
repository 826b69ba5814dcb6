"""Spoilt document indexes, opened, read whole and searched."""

from typing import Any

import numpy as np

from diln.analysis.index import Index, outliers
from fuzz import folders
from fuzz.case import Case, Run, target
from fuzz.judge import WrongError
from fuzz.seeds import Files, read, write
from fuzz.targets.edits import atlas

_made: list[Files] = []


def sound(case: Case) -> Files:
    """The files of a sound index, made once."""
    if not _made:
        known = atlas()
        Index.build(known.fitted, known.corpus).write(case.folder / "sound")
        _made.append(read(case.folder / "sound"))
    return _made[0]


@target(2, strict=True)
def index_folder(case: Case) -> Run:
    """A spoilt index, of which everything is asked."""
    files = sound(case)
    write(folders.spoilt(case.spoiling, files, case.rounds, [files]), case.folder / "documents")

    def run() -> Any:
        index = Index.open(case.folder / "documents")
        theta = index.proportions(np.arange(index.n_docs))
        if (theta < 0).any() or (theta.sum(axis=1) > 1 + 1e-4).any():
            raise WrongError("proportions: they do not sum to 1")
        found = [theta, index.tokens, index.label_names, index.label_codes, index.topic_totals(), index.explained]
        found += [index.rows_of_topic(index.n_topics - 1), outliers(index, 3), index.coherence.shape]
        found += [index.locations is None or np.asarray(index.locations), str(index.timestamps)]
        return [*found, *index.similar(index.query(0), 5)]

    return run
