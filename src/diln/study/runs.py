"""Runs: what is fitted to which documents with which seed, said in a few plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Values = Mapping[str, Any]  # parameters of a model by name, those that are not its defaults
Way = Literal["choose", "fit", "model", "stream", "pass"]
KEPT: Way = "model"  # whose model is kept

# In the name of a run; a parameter that is not here bears its own name.
SHORT = {
    "n_components": "topics", "topic_word_prior": "prior", "inference": "", "max_iter": "passes",
    "doc_topic_prior": "docs", "learning_method": "", "learning_decay": "decay", "batch_size": "batch",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """One fit and what is measured of it.

    ``way`` says which documents judge it and what is kept: "choose" completes validation documents; "fit" completes
    test documents; "model" does, measures the topics too and keeps the model; "stream" learns from mini-batches and
    completes some test documents on the way; "pass" keeps what becomes of the model on the way. ``n_draws`` is over how
    many draws from the posterior the documents' probability is averaged; None if not over draws.
    """

    way: Way
    model: str
    values: tuple[tuple[str, Any], ...]
    split: int
    seed: int
    n_draws: int | None = None

    @property
    def validation(self) -> bool:
        """Whether validation documents judge it, from within the training part."""
        return self.way == "choose"

    @property
    def parameters(self) -> dict[str, Any]:
        """What the model is told."""
        return dict(self.values)

    @property
    def name(self) -> str:
        """A readable name that no other run has."""
        told = [f"{SHORT.get(name, name)}{value}" for name, value in self.values]
        judged = [] if self.n_draws is None else [f"draws{self.n_draws}"]
        return "-".join([self.way, self.model.lower(), f"split{self.split}", f"seed{self.seed}", *told, *judged])

    @property
    def label(self) -> str:
        """What it is, for people."""
        known = self.parameters
        told = {
            "{:,} topics": known.get("n_components"), "prior {:g}": known.get("topic_word_prior"),
            "decay {:g}": known.get("learning_decay"), "mini-batches of {:,}": known.get("batch_size"),
        }  # fmt: skip
        return ", ".join([self.model, *(text.format(value) for text, value in told.items() if value is not None)])

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "way": self.way, "model": self.model, "parameters": self.parameters, "split": self.split,
            "seed": self.seed, "n_draws": self.n_draws, "documents": "validation" if self.validation else "test",
        }  # fmt: skip


def run_of(way: Way, model: str, values: Values, split: int, seed: int = 0, n_draws: int | None = None) -> Run:
    """A run; parameters that are None are left to the model."""
    told = tuple((name, value) for name, value in values.items() if value is not None)
    return Run(way, model, told, split, seed, n_draws)
