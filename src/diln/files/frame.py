"""What the manifests of all kinds have in common, and what is said where one holds something else."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from diln.fields import Field, MismatchError, Record, TensorError, UnknownError
from diln.files.kinds import MANIFEST, Content, Kind

FILE: Record = (
    Field("file", "text", "Its name in the directory"),
    Field("bytes", "whole", "Its size", least=0),
    Field("sha256", "text", "SHA-256 of its bytes, in lower-case hexadecimal"),
)

VERSIONS: Record = (
    Field("diln", "text", "Version of diln that wrote the files"),
    Field("numpy", "text", "Version of NumPy", ""),
    Field("python", "text", "Version of Python", ""),
    Field("safetensors", "text", "Version of safetensors; models and checkpoints", ""),
)


@contextmanager
def checking(kind: Kind, directory: Path, manifest: Content, tensors: str = MANIFEST) -> Iterator[None]:
    """Say of what is found to be wrong with a directory where it is, and what to do."""
    try:
        yield
    except UnknownError as error:
        raise kind.newer(directory, manifest, str(error)) from None
    except MismatchError as error:
        path = directory / (tensors if isinstance(error, TensorError) else MANIFEST)
        raise kind.damaged(path, str(error)) from None
