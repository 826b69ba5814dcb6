"""What the manifests of models and checkpoints hold, around their content."""

from diln.fields import Field, Record

FILE: Record = (
    Field("file", "text", "Its name in the directory"),
    Field("bytes", "whole", "Its size", least=0),
    Field("sha256", "text", "SHA-256 of its bytes, in lower-case hexadecimal"),
)

FILES: Record = (
    Field("tensors.safetensors", "record", "The file of tensors", of=FILE),
    Field("terms.json", "record", "The file of terms", of=FILE),
)

VERSIONS: Record = (
    Field("diln", "text", "Version of diln that wrote the files"),
    Field("numpy", "text", "Version of NumPy", ""),
    Field("python", "text", "Version of Python", ""),
    Field("safetensors", "text", "Version of safetensors", ""),
)

FRAME: Record = (
    Field("format", "text", "`diln-model` or `diln-checkpoint`"),
    Field("schema", "whole", "Number of the format: see [Schemas](#schemas)", least=1),
    Field("versions", "record", "What wrote the files", of=VERSIONS),
    Field("files", "record", "The other files", of=FILES),
    Field("content", "object", "All else"),
)
