"""How a fit goes over its documents where nobody says, and where it keeps them: by how many there are, and by memory.

Which method it is follows from the documents and from what the machine has, or what was asked for: never from what
happens to be free, for another method gives another model. Where documents are kept follows from what is free: in
memory or on disk, the model is the same.
"""

from typing import NamedTuple

from diln.models import memory
from diln.models.parameters import Parameters

GROWN = 20_000  # documents from which on sampling begins with some of them
IN_MEMORY = 200_000_000  # tokens that are swept over, unless told otherwise, even where they do not fit into memory


class Choice(NamedTuple):
    """A learning method, where documents are kept, and a sentence on what was chosen and why."""

    method: str  # batch, grow or online
    on_disk: bool
    sentence: str  # empty where nothing was chosen
    warns: bool  # whether something was chosen that a user may not expect: then the fit itself says so

    @property
    def line(self) -> str:
        """The sentence, unless a warning says it."""
        return "" if self.warns else self.sentence


def chosen(parameters: Parameters, n_docs: int, n_tokens: float, *, here: bool = True) -> Choice:
    """What to do with so many documents; where they are not kept ``here``, in this process, they are never on disk."""
    if parameters.inference != "sampling":
        return Choice(*_without_memory(parameters), warns=False)
    place = memory.placed(parameters, n_docs, n_tokens)
    method, why = _method(parameters, n_docs, n_tokens, place.needed)
    on_disk = here and place.on_disk and method != "online"
    unasked = parameters.memory == "auto"
    parts = [f"learning: {method}, for {why}" if why else ""]
    if here and method != "online" and (why or on_disk):
        parts.append(_kept(n_docs, place, on_disk, unasked))
    short = method == "online" and bool(why)
    return Choice(method, on_disk, "; ".join(filter(None, parts)), short or (on_disk and unasked))


def _without_memory(parameters: Parameters) -> tuple[str, bool, str]:
    if parameters.learning_method != "auto":
        return parameters.learning_method, False, ""
    return "batch", False, "learning: batch, as variational inference has it"


def _method(parameters: Parameters, n_docs: int, n_tokens: float, needed: float) -> tuple[str, str]:
    """The method, and why; no reason where it was asked for."""
    many, millions = f"more than {GROWN:,} documents", f"{IN_MEMORY / 1e6:,.0f} million tokens"
    if parameters.learning_method != "auto":
        return parameters.learning_method, ""
    if n_docs <= GROWN:
        return "batch", f"there are up to {GROWN:,} documents"
    if n_tokens <= IN_MEMORY:
        return "grow", f"there are {many} of up to {millions}"
    room = memory.most(parameters)
    if needed <= room:
        return "grow", f"there are {many}, and memory for all of them"
    return "online", (
        f"there are more than {millions}, which would take {_size(needed)} of memory and may take {_size(room)} "
        "(memory says how much; learning_method='grow' goes over them from disk)"
    )


def _kept(n_docs: int, place: memory.Placement, on_disk: bool, unasked: bool) -> str:
    """Where documents are kept."""
    allowed = f"may take {_size(place.allowed)}{', half of what is free' if unasked else ''}"
    if not on_disk:
        return f"documents take {_size(place.needed)} of memory and {allowed}"
    return (
        f"{n_docs:,} documents would take {_size(place.needed)} of memory and {allowed}: they are kept on disk while "
        f"the model is fitted{' (memory says how much they may take)' if unasked else ''}"
    )


def _size(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{max(size, 0) / 1e6:,.1f} MB"
