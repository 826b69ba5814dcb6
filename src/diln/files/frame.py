"""What the manifests of all kinds have in common, and what is said where one holds something else."""

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import diln
from diln.fields import Field, MismatchError, Record, TensorError, UnknownError
from diln.files.kinds import MANIFEST, Content, Kind, version_of

NOTE: Record = (
    Field("bytes", "whole", "Its size", least=0),
    Field("sha256", "text", "SHA-256 of its bytes, in lower-case hexadecimal"),
)

FILE: Record = (Field("file", "text", "Its name in the directory"), *NOTE)

VERSIONS: Record = (
    Field("diln", "text", "Version of diln that wrote the files"),
    Field("numpy", "text", "Version of NumPy", ""),
    Field("python", "text", "Version of Python", ""),
    Field("safetensors", "text", "Version of safetensors; models and checkpoints", ""),
)


def versions(**others: str) -> dict[str, str]:
    """The versions of what writes files now."""
    return {"diln": diln.__version__, "numpy": np.__version__, "python": platform.python_version(), **others}


@contextmanager
def checking(kind: Kind, directory: Path, manifest: Content, tensors: str = MANIFEST) -> Iterator[None]:
    """Say of what is found to be wrong with a directory where it is, and what to do."""
    try:
        yield
    except UnknownError as error:
        if version_of(manifest) == diln.__version__:
            raise kind.damaged(directory / MANIFEST, f"has {error}, which this version of diln never writes") from None
        raise kind.newer(directory, manifest, str(error)) from None
    except MismatchError as error:
        path = directory / (tensors if isinstance(error, TensorError) else MANIFEST)
        raise kind.damaged(path, str(error)) from None
