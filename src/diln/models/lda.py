"""Latent Dirichlet allocation, on the same token step as its relatives."""

from dataclasses import dataclass

from diln.models.base import TopicModel
from diln.models.declared import documented
from diln.models.fitted import Floats
from diln.models.options import LDAOptions


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class LDA(LDAOptions, TopicModel):
    """A topic model with a given number of topics, in which no topic depends on another.

    Latent Dirichlet allocation: a document's proportions of the topics are from one Dirichlet distribution for all
    documents. Sampling draws every token's topic given all others; the model is the average of late states.
    """

    @property
    def doc_topic_prior_(self) -> Floats:
        """Parameters of the documents' Dirichlet prior (n_components,)."""
        return self._known().posterior.a0.copy()
