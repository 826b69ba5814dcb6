"""What is in an index of documents: every field and array, as ``docs/files.md`` shows them.

A change here is a change of the format; ``docs/developing.md`` says what goes with it.
"""

from diln.fields import Field, Record, Tensor
from diln.files.frame import VERSIONS

WHOLE = 65_535  # parts that a share is told in

INDEXED: Record = (
    Field(
        "relative", "text", "Where the corpus is, from the model's directory on; null if it is not on disk", null=True
    ),
    Field("absolute", "text", "Where it was when the index was made; null if it is not on disk", null=True),
    Field("digest", "text", "SHA-256 of its terms and of the documents' numbers of tokens, as below"),
)

INDEX: Record = (
    Field("format", "text", "`diln-index`"),
    Field("schema", "whole", "Number of the format: see [Schemas](#schemas)", least=1),
    Field("versions", "record", "What wrote the files", of=VERSIONS),
    Field("model", "text", "SHA-256 of the topics that the model had, as below"),
    Field("documents", "whole", "Documents", least=0),
    Field("topics", "whole", "Topics of the model", least=1),
    Field("dims", "whole", "Dimensions of the documents' locations; 0 for a model without", least=0),
    Field("terms", "whole", "Terms of the model", least=1),
    Field("entries", "whole", "Shares that are kept of all documents together", least=0),
    Field("word_dims", "whole", "Dimensions in which documents are compared by their words", least=0),
    Field("labels", "whole", "Labels that differ", least=0),
    Field("corpus", "record", "The corpus that it was made of", of=INDEXED),
    Field("files", "object", "Its arrays, by name"),
)

INDEX_ARRAYS = (
    Tensor("tokens", "uint32", ("documents",), "Tokens of terms that the model knows"),
    Tensor("locations", "float32", ("documents", "dims"), "E u_m. Models with locations", least=-1e30, most=1e30),
    Tensor("offsets", "int64", ("documents + 1",), "Where each document's shares begin, and the end", least=0),
    Tensor("topics", "uint16", ("entries",), "Topics of the shares, ascending in a document"),
    Tensor("shares", "uint16", ("entries",), "Shares of at least 0.002, in parts of 65535"),
    Tensor("rest", "float64", ("topics",), "Sum over documents of the shares below 0.002", least=0),
    Tensor("totals", "float64", ("topics",), "Tokens of all documents in each topic", least=0),
    Tensor("topic_offsets", "int64", ("topics + 1",), "Where each topic's documents begin, and the end", least=0),
    Tensor("topic_rows", "uint32", ("entries",), "Documents of each topic, the largest share first"),
    Tensor("topic_shares", "uint16", ("entries",), "Their shares of it"),
    Tensor(
        "explained", "float32", ("documents",), "Nats a token by which topics beat frequencies", least=-1e4, most=1e4
    ),
    Tensor("words", "int8", ("documents", "word_dims"), "Where the document's words lie, as below"),
    Tensor("word_weights", "float32", ("terms",), "Weight of each term in it", least=0, most=1e3),
    Tensor("word_axes", "float32", ("terms", "word_dims"), "Where each term lies", least=-2, most=2),
    Tensor("word_mean", "float32", ("word_dims",), "Mean of the documents", least=-2, most=2),
    Tensor("times", "int64", ("documents",), "Dates in seconds since 1970; the least number for none"),
    Tensor("label_codes", "int32", ("documents",), "Number of the document's label; -1 for none", least=-1),
    Tensor("label_bytes", "uint8", ("label bytes",), "The labels in UTF-8, end to end"),
    Tensor("label_offsets", "int64", ("labels + 1",), "Where each label begins, and the end", least=0),
    Tensor("coherence", "float32", ("topics",), "NPMI of each topic's ten most probable words; -2 for none", least=-2),
)
