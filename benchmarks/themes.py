"""Themes beside other groups of documents: whether they tell labels apart, and whether another seed finds them again.

python benchmarks/themes.py CORPORA MODELS [--corpora nyt ...] [--seeds 0 1 2 3 4] [--keep FOLDER] [--out FILE]
python benchmarks/themes.py --show FILE
python benchmarks/themes.py --table FILE   the table of docs/themes.md

CORPORA holds corpora (diln corpus build), MODELS a DILN model of each for each seed, fitted with the defaults, as
nyt-0, nyt-1 and so on (those of arxiv_200k are learned online, which takes less time). For 5 and 12 groups and as many
as there are labels:

- NMI: normalised mutual information of a document's group and its label, mean over seeds. Labels are sections (nyt),
  the first subject (elife), the archive of the first category (arxiv_200k); newsarticles2016 has no sections, and sites
  stand in for them, which tells little: a site writes about everything.
- ARI: adjusted Rand index of the groups of two seeds, mean over pairs of seeds.

The groups: themes (with documents); the largest share of these themes; themes of the model alone, by largest share;
spherical k-means of documents' locations; k-means of topics' locations weighted by share, by largest share; k-means of
LSI with 100 dimensions of TF-IDF; the largest topic of DILN and LDA with as many topics, fitted with the defaults for
that number. Of more than 20,000 documents, k-means is run on 20,000 that are spread evenly, and the others go to the
nearest mean; models of few topics are learned online.
"""

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import normalize

import diln
from diln import DILN, LDA
from diln.analysis.index import Index
from diln.analysis.inputs import used_topics
from diln.analysis.themes import themes
from diln.corpus import Corpus
from diln.models.fitted import Fitted

CORPORA = ["newsarticles2016", "nyt", "elife", "arxiv_200k"]
SIZES = 5, 12
MOST = 20_000  # documents that k-means is run on
Groups = NDArray[np.int64]


def labels_of(corpus: Corpus, name: str) -> NDArray[np.str_]:
    """The label of each document, as the module's docstring says."""
    cut = {"elife": ", ", "arxiv_200k": "."}.get(name)
    return np.array([label.split(cut)[0] if cut else label for label in corpus.documents.labels])


def themes_of(fitted: Fitted, index: Index, sizes: list[int]) -> Iterator[tuple[str, int, Groups]]:
    """Groups of the documents by themes, and by k-means of locations."""
    used = used_topics(fitted)
    theta = np.vstack(
        [index.proportions(np.arange(a, min(a + 8192, len(index))))[:, used] for a in range(0, len(index), 8192)]
    )
    locations, shares = np.asarray(fitted.locations)[used], fitted.topic_weights[used]
    documents = normalize(np.asarray(index.locations, np.float64))
    found = themes(fitted, "auto", index)
    yield "auto", found.n, np.asarray(found.document_theme, np.int64)
    for n in sizes:
        found, alone = themes(fitted, n, index), themes(fitted, n)
        yield "themes", n, np.asarray(found.document_theme, np.int64)
        yield "themes, largest share", n, np.asarray(found.document_shares).argmax(axis=1)
        yield "themes of the model alone", n, largest(theta, [alone.topic_theme[int(one)] for one in used])
        yield "k-means of locations", n, nearest_means(documents, n, 0)
        group = KMeans(n, n_init=10, random_state=0).fit(normalize(locations), sample_weight=shares).labels_
        yield "k-means of topics", n, largest(theta, group)


def nearest_means(points: NDArray[np.floating], n: int, seed: int) -> Groups:
    """Groups of points by k-means of so many of them as can be grouped soon."""
    some = np.linspace(0, len(points) - 1, min(len(points), MOST)).astype(np.int64)
    return np.asarray(KMeans(n, n_init=5, random_state=seed).fit(points[some]).predict(points), np.int64)


def largest(theta: NDArray[np.floating], group: Any) -> Groups:
    """The group of topics with the largest share of each document."""
    return np.asarray((theta @ np.eye(int(np.max(group)) + 1)[np.asarray(group)]).argmax(axis=1), np.int64)


def small_models(corpus: Corpus, seed: int, sizes: list[int]) -> Iterator[tuple[str, int, Groups]]:
    """Groups of the documents by models of few topics."""
    learning: Any = {"learning_method": "online"} if len(corpus) > MOST else {}
    for kind in (DILN, LDA):
        for n in sizes:
            theta = kind(n, random_state=seed, **learning).fit_transform(corpus.counts)
            yield f"{kind.__name__}(n)", n, theta.argmax(axis=1)


def lsi(corpus: Corpus, seed: int, sizes: list[int]) -> Iterator[tuple[str, int, Groups]]:
    """Groups of the documents by k-means of LSI."""
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(corpus.counts)
    points = normalize(TruncatedSVD(100, random_state=seed).fit_transform(weighted))
    for n in sizes:
        yield "k-means of LSI", n, nearest_means(points, n, seed)


def measured(corpus: str, labels: NDArray[np.str_], found: dict[int, Groups], method: str, n: int) -> dict[str, Any]:
    """What is told of groups, by seed."""
    pairs = [adjusted_rand_score(found[i], found[j]) for i, j in combinations(sorted(found), 2)]
    nmi = [normalized_mutual_info_score(labels, found[seed]) for seed in sorted(found)]
    return {
        "corpus": corpus, "n": n, "method": method, "labels": len(np.unique(labels)), "seeds": sorted(found),
        "nmi": float(np.mean(nmi)), "nmi_by_seed": nmi, "ari": float(np.mean(pairs)) if pairs else None,
    }  # fmt: skip


Found = Callable[[], Iterator[tuple[str, int, Groups]]]


def kept(folder: Path | None, name: str, found: Found) -> list[tuple[str, int, Groups]]:
    """Groups as they were found before and kept in a folder, or as they are found now."""
    path = None if folder is None else folder / f"{name}.npz"
    if path is not None and path.exists():
        with np.load(path) as stored:
            return [(key.split("|")[0], int(key.split("|")[1]), stored[key].astype(np.int64)) for key in stored]
    begun = time.process_time()
    groups = list(found())
    print(f"# {name}: {time.process_time() - begun:.0f} CPU s", flush=True)
    if path is not None:
        arrays: dict[str, Any] = {f"{method}|{n}": group.astype(np.int16) for method, n, group in groups}
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **arrays)
    return groups


def run(given: argparse.Namespace, name: str) -> Iterator[dict[str, Any]]:
    """Rows of one corpus."""
    corpus = Corpus.open(given.folder / name)
    labels, found, chosen = labels_of(corpus, name), dict[tuple[str, int], dict[int, Groups]](), dict[int, int]()
    sizes = sorted({*SIZES, len(np.unique(labels))})
    known = [seed for seed in given.seeds if (given.models / f"{name}-{seed}" / "manifest.json").exists()]

    def parts(seed: int) -> dict[str, Found]:
        """What groups documents, by name."""

        def by_themes() -> Iterator[tuple[str, int, Groups]]:
            fitted = Fitted.load(given.models / f"{name}-{seed}")
            return themes_of(fitted, Index.build(fitted, corpus), sizes)

        small = given.seeds if given.small is None else given.small
        ours: dict[str, Found] = {"themes": by_themes} if seed in known else {}
        ours |= {"lsi": lambda: lsi(corpus, seed, sizes)}
        return ours | ({"small": lambda: small_models(corpus, seed, sizes)} if seed in small else {})

    for seed in given.seeds:
        for part, groups in parts(seed).items():
            for method, n, group in kept(given.keep, f"{name}-{seed}-{part}", groups):
                found.setdefault((method, 0 if method == "auto" else n), {})[seed] = group
                if method == "auto":
                    chosen[seed] = n
    for (method, n), by_seed in found.items():
        row = measured(name, labels, by_seed, "themes" if method == "auto" else method, n)
        yield row | ({"n": "auto", "chosen": [chosen[seed] for seed in known]} if method == "auto" else {})


def show(rows: list[dict[str, Any]]) -> None:
    """Print the rows as a table."""
    print(f"{'corpus':17} {'groups':>6}  {'by':26} {'NMI':>5}  {'ARI':>5}  seeds")
    for row in rows:
        ari = "" if row["ari"] is None else f"{row['ari']:.2f}"
        chosen = f"  chosen: {', '.join(map(str, row['chosen']))}" if "chosen" in row else ""
        print(
            f"{row['corpus']:17} {row['n']:>6}  {row['method']:26} {row['nmi']:5.3f}  {ari:>5}  {len(row['seeds'])}"
            + chosen
        )


SHOWN = [
    "themes", "themes of the model alone", "k-means of locations", "k-means of topics", "k-means of LSI", "DILN(n)",
    "LDA(n)",
]  # fmt: skip


def table(rows: list[dict[str, Any]]) -> None:
    """Print NMI and ARI as a table in Markdown, with the number of seeds where it is not five."""
    cells: dict[str, dict[str, str]] = {}
    for row in (row for row in rows if row["n"] != "auto" and row["method"] in SHOWN):
        ari = "" if row["ari"] is None else f", {row['ari']:.2f}"
        seeds = "" if len(row["seeds"]) == 5 else f" ({len(row['seeds'])})"
        cells.setdefault(f"{row['corpus']}, {row['n']}", {})[row["method"]] = f"{row['nmi']:.2f}{ari}{seeds}"
    print("| corpus, groups | " + " | ".join(SHOWN) + " |", "|---" * (len(SHOWN) + 1) + "|", sep="\n")
    for name, found in cells.items():
        print(f"| {name} | " + " | ".join(found.get(method, "") for method in SHOWN) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("models", type=Path, nargs="?")
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--small", type=int, nargs="*", help="seeds of the models of few topics")
    parser.add_argument("--keep", type=Path, help="folder for groups, which are not found again if they are there")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=Path, help="print what a file has")
    parser.add_argument("--table", type=Path, help="print what a file has as a table in Markdown")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for path, printed in ((given.show, show), (given.table, table)):
        if path:
            printed(json.loads(path.read_text(encoding="utf-8"))["rows"])
            return
    about = f"diln {diln.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {platform.machine()}"
    rows: list[dict[str, Any]] = []
    if given.out and given.out.exists():
        rows = json.loads(given.out.read_text(encoding="utf-8"))["rows"]
    for name in given.corpora:
        fresh = sorted(run(given, name), key=lambda row: str(row["n"]).zfill(3))
        rows = [row for row in rows if row["corpus"] != name] + fresh
        show(fresh)
        if given.out:
            given.out.write_text(json.dumps({"about": about, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
