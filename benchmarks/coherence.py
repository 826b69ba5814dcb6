"""Coherence of as many topics of one model as of another: DILN and tomotopy's LDA with as many topics.

python benchmarks/coherence.py DATA [--corpora ap] [--topics 400] [--prior 0.02] [--sweeps 400] [--out FILE]

The mean NPMI of topics in use is of more topics in one model than in the other. Here topics are taken by size: the
largest of each model, as many of both; or as many as hold the same share of the tokens; or all, each counted by the
tokens it holds. Training documents, words and NPMI are those of ``benchmarks/peers``; the prior and the sweeps are of
tomotopy's LDA, with its learned weights of topics.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from diln import DILN, Corpus
from diln.analysis.coherence import count_together, npmi
from diln.inference.progress import topics_in_use
from peers.judge import TOP
from peers.split import written
from peers.tools import counts_of, tomotopy_topics, words_of

Floats = NDArray[np.float64]
LARGEST, SHARES = (20, 50, 100, 200, 400), (0.5, 0.7, 0.8, 0.9)


def by_size(train: Corpus, topics: Floats, tokens: Floats) -> tuple[Floats, Floats]:
    """NPMI of topics (n_topics, n_terms) and the shares of tokens that they hold, the largest first."""
    order = np.argsort(-tokens, kind="stable")
    first = np.argsort(-topics[order], axis=1, kind="stable")[:, :TOP]
    words = [[train.vocabulary[term] for term in terms] for terms in first]
    return np.array([npmi(one) for one in count_together(train, words)]), tokens[order] / tokens.sum()


def lda(folder: Path, size: int, prior: float, sweeps: int) -> tuple[Floats, Floats]:
    """Topics of tomotopy's LDA, and their tokens."""
    import tomotopy

    train, model = counts_of(folder), tomotopy.LDAModel(k=size, eta=prior, seed=0)
    for m in range(train.shape[0]):
        model.add_doc(words_of(train, m))
    model.train(sweeps, workers=1)
    return tomotopy_topics(model, train.shape[1]), np.asarray(model.get_count_by_topics(), np.float64)


def described(values: Floats, shares: Floats) -> dict[str, float]:
    """Means over topics, by which they are of."""
    used = topics_in_use(shares)
    found = {"in use": float(used), f"the {used} in use": float(values[:used].mean())}
    found |= {f"the {number} largest": float(values[:number].mean()) for number in LARGEST if number <= len(values)}
    for share in SHARES:
        number = int((np.cumsum(shares) < share).sum()) + 1
        found[f"{share:.0%} of the tokens"] = float(values[:number].mean())
    return {**found, "by tokens": float((values * shares).sum())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpora", nargs="+", default=["ap"])
    parser.add_argument("--topics", type=int, default=400)
    parser.add_argument("--prior", type=float, default=0.02)
    parser.add_argument("--sweeps", type=int, default=400)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = json.loads(given.out.read_text(encoding="utf-8")) if given.out and given.out.exists() else []
    for corpus in given.corpora:
        with TemporaryDirectory() as made:
            folder = written(Path(made), given.data, corpus, 0, False)
            train = Corpus.open(folder / "train")
            ours = DILN(given.topics, random_state=0).fit(train)
            models = {
                "DILN": (ours.topic_word_, np.asarray(ours.fitted_.posterior.topic_tokens)),
                "tomotopy LDA": lda(folder, given.topics, given.prior, given.sweeps),
            }
            known = {name: by_size(train, *model) for name, model in models.items()}
        least = min(topics_in_use(shares) for _, shares in known.values())
        for name, (values, shares) in known.items():
            row = {**described(values, shares), f"the {least} largest": float(values[:least].mean())}
            rows.append({"corpus": corpus, "topics": given.topics, "model": name, **row})
            print(
                corpus, given.topics, name, *(f"{of}: {value:.3g}" for of, value in row.items()), sep="  ", flush=True
            )
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
