"""Whether the number of topics in use depends on how many there can be: DILN at several truncations.

python benchmarks/truncation.py DATA [--corpora ap nyt arxiv_200k] [--topics 200 400 800] [--out FILE]

DATA holds a folder for each corpus with counts.npz (a scipy sparse matrix). Fitted to the training part of each, with
the defaults but for ``n_components``; perplexity is of validation documents, taken from the training part.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

from scipy.sparse import csr_array, load_npz

from diln import DILN
from peers.split import split


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpora", nargs="+", default=["ap", "nyt", "arxiv_200k"])
    parser.add_argument("--topics", nargs="+", type=int, default=[200, 400, 800])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    print("corpus       n_components  in use  topics  perplexity  CPU s", flush=True)
    for corpus in given.corpora:
        train, observed, held_out = split(csr_array(load_npz(given.data / corpus / "counts.npz")), given.seed, True)
        for topics in given.topics:
            begun = time.process_time()
            model = DILN(topics, random_state=given.seed).fit(train)
            seconds = time.process_time() - begun
            row = {
                "corpus": corpus, "n_components": topics, "in_use": model.n_topics_, "cpu_s": seconds,
                "perplexity": model.perplexity(observed, held_out), "weights": model.topic_weights_.tolist(),
            }  # fmt: skip
            rows.append(row)
            print(
                f"{corpus:12} {topics:12}  {row['in_use']:6}  {len(row['weights']):6}  {row['perplexity']:10.1f}  "
                f"{seconds:5.1f}",
                flush=True,
            )
            if given.out:
                given.out.write_text(json.dumps(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
