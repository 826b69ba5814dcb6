"""Whether a model of this size can be fitted: better known before the fit than amid it."""

from diln.models.checks import ParameterError
from diln.models.counts import Rows
from diln.models.memory import total
from diln.models.parameters import Parameters
from diln.models.sampling import start_size

DIMS = 20  # that a model may have whatever it is fitted to
NUMBER = 8  # bytes


def check_size(parameters: Parameters, rows: Rows, *, streams: bool = False) -> None:
    """Raise if there is no room for what is known of topics and documents, or nothing to fill all dimensions with.

    Documents of a stream are only the first of it.
    """
    sampled = parameters.inference == "sampling"
    topics = start_size(parameters, rows.n_tokens) if sampled else parameters.truncation
    _check_dims(parameters, topics if streams else min(topics, rows.n_docs))
    docs = 0 if sampled else rows.n_docs  # sampling can have them on disk
    numbers = topics * (rows.n_terms + parameters.topic_numbers) + docs * parameters.document_numbers
    if numbers * NUMBER > total():
        raise ParameterError(
            "n_components",
            f"of {topics:,} with {rows.n_terms:,} terms and {rows.n_docs:,} documents needs about "
            f"{numbers * NUMBER / 1e9:,.0f} GB of memory, and there is {total() / 1e9:,.0f} GB; give fewer topics",
        )


def _check_dims(parameters: Parameters, most: int) -> None:
    dims = parameters.values.get("n_dims")
    if dims is not None and dims > max(DIMS, most):
        raise ParameterError(
            "n_dims",
            f"is {dims:,}; more than there are topics or documents would be empty: give {max(DIMS, most):,} or fewer",
        )
