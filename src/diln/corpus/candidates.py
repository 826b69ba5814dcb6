"""Terms that a vocabulary does not have yet: in about how many recent documents each was, in bounded memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field

ROOM = 50_000  # terms that are counted at most
HALF_LIFE = 20_000.0  # documents after which one that had a term counts for half
ROUNDED = 0.5  # documents that a count may lack of what is asked for: ages make it a little less than a whole number
FEW = 20  # documents below which a term may be in all of them


@dataclass(slots=True)
class Candidates:
    """A Misra-Gries summary of document frequencies, with ageing.

    Of more than ``ROOM`` terms those in the fewest documents are dropped, and what the largest of them had is taken off
    all others. So no count is ever above the truth, nor below it by more than ``missed``.
    """

    counts: dict[str, float] = field(default_factory=dict)  # documents of each term, in the order of their coming
    seen: float = 0.0  # documents that these are of
    missed: float = 0.0  # by how much a count may be below the truth

    def see(self, terms: Iterable[str], frequency: Iterable[int], n_docs: int) -> None:
        """Take in documents: unknown terms, each once, in how many of them each is, and how many there are."""
        keep = 0.5 ** (n_docs / HALF_LIFE)
        counts = {term: keep * count for term, count in self.counts.items()}
        for term, number in zip(terms, frequency, strict=True):
            counts[term] = counts.get(term, 0.0) + number
        self.counts, self.seen, self.missed = counts, keep * self.seen + n_docs, keep * self.missed
        if len(counts) > ROOM:
            least = sorted(counts.values(), reverse=True)[ROOM]
            self.counts = {term: count - least for term, count in counts.items() if count > least}
            self.missed += least

    def ripe(self, least: float, most_share: float, room: int) -> list[str]:
        """Take out the terms that are in enough documents and not in too many, those in most of them first."""
        most = self.seen * (most_share if self.seen >= FEW else 1.0)
        found = [term for term, count in self.counts.items() if least <= count + ROUNDED and count <= most]
        found = sorted(found, key=lambda term: (-self.counts[term], term))[: max(room, 0)]
        for term in found:
            del self.counts[term]
        return found
