"""What tells whether an index goes with a model, and with a corpus."""

import json
from hashlib import sha256

import numpy as np

from diln.corpus import Corpus
from diln.models.fitted import Fitted


def digest_of_model(fitted: Fitted) -> str:
    """SHA-256 of the terms as JSON, and of the topics' and locations' numbers: the same after saving and loading."""
    posterior = fitted.posterior
    found = sha256(json.dumps(fitted.vocabulary).encode())
    for array in (posterior.statistics, posterior.locations):
        found.update(np.ascontiguousarray(array, "<f4").data)
    found.update(np.float64(posterior.prior).tobytes())
    return found.hexdigest()


def digest_of_corpus(corpus: Corpus, n_docs: int | None = None) -> str:
    """SHA-256 of the terms as JSON, and of the numbers of tokens of the documents, or the first of them."""
    found = sha256(json.dumps(corpus.vocabulary).encode())
    found.update(np.ascontiguousarray(corpus.doc_lengths[:n_docs], "<i8").data)
    return found.hexdigest()
