"""What the manifests of models and checkpoints hold, around their content."""

from diln.fields import Field, Record
from diln.files.frame import FILE, NOTE, VERSIONS

SHARDS: Record = (
    Field("file", "text", "Name of the folder"),
    Field("parts", "records", "The files `0`, `1` and so on in it, in this order", of=NOTE),
)

FILES: Record = (
    Field("tensors.safetensors", "record", "The file of tensors", of=FILE),
    Field("terms.json", "record", "The file of terms", of=FILE),
    Field(
        "shards",
        "record",
        "Phase `chain` of a checkpoint: the folder of shards of documents",
        None,
        null=True,
        of=SHARDS,
    ),
)

FRAME: Record = (
    Field("format", "text", "`diln-model` or `diln-checkpoint`"),
    Field("schema", "whole", "Number of the format: see [Schemas](#schemas)", least=1),
    Field("versions", "record", "What wrote the files", of=VERSIONS),
    Field("files", "record", "The other files", of=FILES),
    Field("content", "object", "All else"),
)
