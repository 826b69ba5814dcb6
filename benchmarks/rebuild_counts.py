"""Rebuild the counts of the reference corpora from their documents and compare them with the stored ones.

python benchmarks/rebuild_counts.py DATA [NAME ...]

DATA holds a folder for each corpus with docs.jsonl.gz, counts.npz and vocab.txt, whose counts were made by: lower case,
tokens [a-z]{3,}, scikit-learn's English stop words out, terms in fewer than 10 documents (5 below 3,000 documents) or
in more than half of them out, the 10,000 terms of highest document frequency kept.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, load_npz

from diln.corpus import Corpus


def rebuild(folder: Path) -> Corpus:
    with gzip.open(folder / "docs.jsonl.gz") as file:
        keys = json.loads(next(file))
        n_docs = 1 + sum(1 for _ in file)
    text = ["title", "text"] if "title" in keys else ["text"]
    return Corpus.read(
        folder / "docs.jsonl.gz",
        text=text,
        n_jobs=2,
        alphabet="ascii",
        min_length=3,
        stop_words="sklearn",
        min_df=10 if n_docs >= 3000 else 5,
        max_df=0.5,
        max_terms=10_000,
    )


def compare(folder: Path) -> bool:
    corpus = rebuild(folder)
    stored, terms = csr_array(load_npz(folder / "counts.npz")), (folder / "vocab.txt").read_text().split()
    ours, theirs = set(corpus.vocabulary), set(terms)
    print(f"{folder.name}: {corpus}")
    print(f"  stored: {stored.shape[0]:,} documents, {stored.shape[1]:,} terms, {int(stored.sum()):,} tokens")
    print(f"  terms only in ours {sorted(ours - theirs)[:10]}, only in the stored {sorted(theirs - ours)[:10]}")
    if stored.shape[0] != len(corpus):
        return False
    both = sorted(ours & theirs)
    mine, yours = ({term: place for place, term in enumerate(v)} for v in (corpus.vocabulary, terms))
    difference = corpus.counts[:, [mine[t] for t in both]] - stored[:, [yours[t] for t in both]]
    print(f"  over the {len(both):,} common terms, counts that differ: {difference.count_nonzero():,}")
    same = difference.count_nonzero() == 0 and corpus.vocabulary == terms
    print(f"  identical, term by term and row by row: {same}")
    if not same:
        explain(corpus, stored, terms)
    return bool(same)


def explain(corpus: Corpus, stored: csr_array, terms: list[str]) -> None:
    """Terms were chosen before duplicates were dropped, so a few are in fewer of the documents left than was asked."""
    frequency, before = corpus.document_frequency, np.bincount(stored.indices, minlength=len(terms))
    print(f"  a term of ours is in at least {frequency.min()} documents; of the stored terms that ours lacks,")
    for term in sorted(set(terms) - set(corpus.vocabulary)):
        print(f"    {term!r} is in {before[terms.index(term)]} of the documents that are left")


if __name__ == "__main__":
    data = Path(sys.argv[1])
    names = sys.argv[2:] or ["ap", "newsarticles2016", "elife", "wikipedia", "arxiv_200k"]
    same = [compare(data / name) for name in names]
    sys.exit(not all(same))
