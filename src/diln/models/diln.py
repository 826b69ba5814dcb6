"""The Discrete Infinite Logistic Normal distribution: topics that go together or avoid each other."""

from dataclasses import dataclass
from typing import Any, cast

from sklearn.utils.validation import check_is_fitted

from diln.models.base import Concentrated, Correlated, TopicModel
from diln.models.declared import documented
from diln.models.fitted import Floats
from diln.models.options import DILNOptions


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class DILN(DILNOptions, Concentrated, Correlated, TopicModel):
    """A topic model that learns how many topics are useful, and which go together.

    Every topic and every document has a location; a document has more of the topics that lie in its direction. The HDP
    is the same model without locations.
    """

    @property
    def topic_locations_(self) -> Floats:
        """Locations of the topics (n_topics, n_dims): the mean over states, which are rotated to fit each other."""
        return cast(Floats, self._known().locations)

    def document_locations(self, X: Any) -> Floats:
        """Locations of documents among the topics.

        Parameters
        ----------
        X : documents
            As ``transform`` takes them.

        Returns
        -------
        ndarray (n_docs, n_dims)
            u, so that a topic at ell is lifted by ell . u; the origin for a document without a known term.
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)[0]
        with self._running() as engine:
            return self.fitted_.located(rows, engine)
