"""Files and directories that diln writes: whole or not at all, by one process at a time, and through no link."""

from diln.files.folders import Held, next_generation, remove, sweep, writing
from diln.files.interrupts import guarded, let_through, uninterrupted
from diln.files.kinds import MANIFEST, Content, Kind, StoredFiles, inside, read_manifest, write_manifest
from diln.files.lock import LOCK, locked
from diln.files.safe import (
    Entry,
    create,
    make_folder,
    open_as_it_is,
    sweep_fresh,
    touch,
    unreadable,
    whole,
    write_parts,
    write_whole,
)
from diln.files.temporary import TemporaryFolder, temporary_folder

__all__ = [
    "LOCK",
    "MANIFEST",
    "Content",
    "Entry",
    "Held",
    "Kind",
    "StoredFiles",
    "TemporaryFolder",
    "create",
    "guarded",
    "inside",
    "let_through",
    "locked",
    "make_folder",
    "next_generation",
    "open_as_it_is",
    "read_manifest",
    "remove",
    "sweep",
    "sweep_fresh",
    "temporary_folder",
    "touch",
    "uninterrupted",
    "unreadable",
    "whole",
    "write_manifest",
    "write_parts",
    "write_whole",
    "writing",
]
