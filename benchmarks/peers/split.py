"""Training documents, and the observed and held-out halves of test or validation documents."""

from pathlib import Path

from scipy.sparse import csr_array, load_npz, save_npz

from diln import Corpus
from diln.corpus.splits import completion_rows, halves


def split(counts: csr_array, seed: int, validation: bool) -> tuple[csr_array, csr_array, csr_array]:
    """Training counts, and the observed and held-out halves of test or validation documents."""
    train, test, rng = completion_rows(counts.shape[0], seed, validation=validation)
    observed, held_out = halves(csr_array(counts[test]), rng)
    return csr_array(counts[train]), observed, held_out


def written(folder: Path, data: Path, corpus: str, seed: int, validation: bool) -> Path:
    """A folder with the training documents, as a corpus on disk and as a matrix, and the two halves of the others."""
    target = folder / f"{corpus}-{seed}{'-validation' * validation}"
    if not target.exists():
        train, observed, held_out = split(csr_array(load_npz(data / corpus / "counts.npz")), seed, validation)
        target.mkdir()
        Corpus.from_matrix(train, [f"t{i}" for i in range(train.shape[1])]).save(target / "train")
        for name, counts in (("train", train), ("observed", observed), ("held_out", held_out)):
            save_npz(target / f"{name}.npz", counts)
    return target


def read(folder: Path) -> tuple[Corpus, csr_array, csr_array]:
    """What ``written`` wrote: training documents, observed and held-out halves."""
    observed, held_out = (csr_array(load_npz(folder / name)) for name in ("observed.npz", "held_out.npz"))
    return Corpus.open(folder / "train"), observed, held_out
