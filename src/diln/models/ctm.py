"""The correlated topic model: a given number of topics, and which go together."""

from dataclasses import dataclass

from diln.models.base import Correlated, TopicModel
from diln.models.declared import documented
from diln.models.options import CTMOptions


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class CTM(CTMOptions, Correlated, TopicModel):
    """A topic model with a given number of topics that learns which go together.

    The correlated topic model of Blei and Lafferty (2007): a document's log weights of the topics are Gaussian, with
    one mean and one full covariance for all documents, and its proportions are their softmax. Sampling draws every
    token's topic, every document's log weights one by one, and mean and covariance; the model is the average of late
    states. Variational inference is the paper's: a document's log weights have a Gaussian with a diagonal covariance,
    and mean and covariance are point estimates.
    """
