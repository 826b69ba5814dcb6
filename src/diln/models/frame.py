"""What the manifests of models and checkpoints hold, around their content."""

from diln.fields import Field, Record
from diln.files.frame import FILE, VERSIONS

FILES: Record = (
    Field("tensors.safetensors", "record", "The file of tensors", of=FILE),
    Field("terms.json", "record", "The file of terms", of=FILE),
)

FRAME: Record = (
    Field("format", "text", "`diln-model` or `diln-checkpoint`"),
    Field("schema", "whole", "Number of the format: see [Schemas](#schemas)", least=1),
    Field("versions", "record", "What wrote the files", of=VERSIONS),
    Field("files", "record", "The other files", of=FILES),
    Field("content", "object", "All else"),
)
