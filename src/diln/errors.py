"""What can go wrong outside our own code, said in one sentence that tells what to do."""


class DilnError(Exception):
    """A file, a directory or a worker process is not as it should be; the message says what to do."""


class SourceError(DilnError, ValueError):
    """Documents could not be read as given: a missing file, a wrong column, broken bytes, bad counts."""


class StoreError(DilnError):
    """A directory written by diln is missing, damaged, newer than this version, or in use."""


class WorkerError(DilnError):
    """A worker process died or could not be given its work."""


class DilnWarning(UserWarning):
    """Something worth knowing that does not stop the work."""
