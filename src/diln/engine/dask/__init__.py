"""Steps on a Dask cluster: shards live with its workers, and are brought back when a worker is lost."""

from diln.errors import DilnError

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise DilnError("a cluster needs Dask; install it with: pip install 'diln[cluster]'") from error
