"""The hierarchical Dirichlet process, by the algorithm of DILN without locations."""

from dataclasses import dataclass

from diln.models.base import Concentrated, TopicModel
from diln.models.declared import documented
from diln.models.options import HDPOptions


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class HDP(HDPOptions, Concentrated, TopicModel):
    """A topic model that learns how many topics are useful to tell the documents apart."""
