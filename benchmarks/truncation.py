"""What the number of topics does: models with few and many of them, and with other priors of their terms.

python benchmarks/truncation.py DATA [--corpora ap nyt] [--topics 25 100 400 800] [--times 0.5 1 2] [--out FILE]
python benchmarks/truncation.py DATA --corpora arxiv_200k --models HDP --topics 800 --times 1 2

DATA holds a folder for each corpus with counts.npz (a scipy sparse matrix). Fitted to the training part of each, with
the defaults but for ``n_components``, and a ``topic_word_prior`` so many times its default in batch, with
``learning_method`` as ``--learning`` says; perplexity is of validation documents, taken from the training part. Rows
that are in FILE are not fitted again.
"""

import argparse
import json
import time
import warnings
from itertools import product
from pathlib import Path

from scipy.sparse import csr_array, load_npz

import diln
from diln.models.parameters import prior_of
from peers.split import split

KEYS = "corpus", "model", "learning", "n_components", "times"  # of a row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpora", nargs="+", default=["ap", "nyt", "arxiv_200k"])
    parser.add_argument("--models", nargs="+", choices=["DILN", "HDP", "LDA", "CTM"], default=["DILN"])
    parser.add_argument("--learning", choices=["auto", "batch", "grow"], default="auto")
    parser.add_argument("--topics", nargs="+", type=int, default=[200, 400, 800])
    parser.add_argument("--times", nargs="+", type=float, default=[1.0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = json.loads(given.out.read_text(encoding="utf-8")) if given.out and given.out.exists() else []
    known = {tuple(row[name] for name in KEYS) for row in rows}
    print("corpus            model  learning  n_components   prior  in use  topics  perplexity  CPU s", flush=True)
    for corpus in given.corpora:
        train, observed, held_out = split(csr_array(load_npz(given.data / corpus / "counts.npz")), given.seed, True)
        for kind, topics, times in product(given.models, given.topics, given.times):
            if (corpus, kind, given.learning, topics, times) in known:
                continue
            prior, begun = times * prior_of(topics), time.process_time()
            options = {"topic_word_prior": prior, "learning_method": given.learning, "random_state": given.seed}
            model = getattr(diln, kind)(topics, **options).fit(train)
            seconds = time.process_time() - begun
            row = {
                "corpus": corpus, "model": kind, "learning": given.learning, "n_components": topics, "times": times,
                "prior": prior, "in_use": model.n_topics_, "topics": len(model.topic_weights_), "cpu_s": seconds,
                "perplexity": model.perplexity(observed, held_out),
            }  # fmt: skip
            rows.append(row)
            print(
                f"{corpus:17} {kind:5}  {given.learning:8}  {topics:12}  {prior:6.4f}  {row['in_use']:6}  "
                f"{row['topics']:6}  {row['perplexity']:10.1f}  {seconds:5.1f}",
                flush=True,
            )
            if given.out:
                given.out.write_text(json.dumps(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
