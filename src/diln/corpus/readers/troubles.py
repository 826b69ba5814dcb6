"""What went wrong on the way to a file elsewhere: libraries raise many kinds, and a user needs one sentence."""

from collections.abc import Iterator
from typing import NamedTuple

from diln.addresses import protocol_of, shown, without_secrets
from diln.errors import SourceError

TIMEOUT = 60  # seconds without a byte
LONGEST_REASON = 200
ABSENT, FORBIDDEN, BUSY = (404, 410), (401, 403, 407), (408, 425, 429)
CREDENTIALS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or run aws configure; for a public bucket set "
    "FSSPEC_S3_ANON=true",
    "gs": "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS; for a public bucket set "
    "FSSPEC_GS_TOKEN=anon",
}
SAME = {"s3a": "s3", "gcs": "gs"}
# Classes of errors by name, so that no library needs to be loaded to tell: the reason, and whether it may pass.
KINDS = {
    "TooManyRedirects": ("it redirects without end; check the address", False),
    "InvalidURL": ("the address is not valid; check it", False),
    "InvalidUrlClientError": ("the address is not valid; check it", False),
    "ClientConnectorCertificateError": ("its certificate is not trusted; check the address, or the clock", False),
    "NoCredentialsError": ("", False),
    "PartialCredentialsError": ("", False),
    "CredentialRetrievalError": ("", False),
    "DefaultCredentialsError": ("", False),
    "RefreshError": ("", False),
    "ClientConnectorDNSError": ("there is no such host, or no network; check the address and the connection", True),
    "gaierror": ("there is no such host, or no network; check the address and the connection", True),
    "TimeoutError": (f"nothing came for {TIMEOUT} seconds; try again later", True),
    "FSTimeoutError": (f"nothing came for {TIMEOUT} seconds; try again later", True),
    "ReadTimeoutError": (f"nothing came for {TIMEOUT} seconds; try again later", True),
    "ConnectTimeoutError": ("the host does not answer; check the address, or try again later", True),
    "ClientConnectorError": ("the host cannot be reached; check the address and the connection", True),
    "EndpointConnectionError": ("the host cannot be reached; check the address and the connection", True),
    "ConnectionRefusedError": ("the host cannot be reached; check the address and the connection", True),
    "ClientPayloadError": ("the transfer broke off; try again, or copy the file here by other means", True),
    "ServerDisconnectedError": ("the transfer broke off; try again, or copy the file here by other means", True),
    "IncompleteReadError": ("the transfer broke off; try again, or copy the file here by other means", True),
    "ConnectionError": ("the transfer broke off; try again, or copy the file here by other means", True),
    "ClientConnectionError": ("the transfer broke off; try again, or copy the file here by other means", True),
    "HttpProcessingError": (
        "its server does not keep to HTTP, and may send more bytes than it says; try again, or copy the file here by "
        "other means",
        True,
    ),
    "PermissionError": ("you have no permission to read it; check your rights and credentials", False),
    "FileNotFoundError": ("there is no such file or folder; check the address", False),
    "NoSuchBucket": ("there is no such bucket; check the address", False),
    "TooLongError": ("its answer has no end, or is far too long; check the address", False),
    "NotADirectoryError": ("there is no such file or folder; check the address", False),
}


class BrokenOffError(ConnectionError):
    """A transfer has ended before the file."""


class TooLongError(Exception):
    """More bytes have come than are taken."""


class Trouble(NamedTuple):
    """Why a file elsewhere was not read, and whether it is worth trying again."""

    reason: str
    passing: bool

    def error(self, url: str) -> SourceError:
        """The error that says so, and names the URL without its secrets."""
        return SourceError(f"{shown(url)}: {self.reason}")


def trouble_of(error: BaseException, url: str) -> Trouble:
    """What an error of fsspec, or of a library below it, is to the user."""
    errors = list(_causes(error))
    statuses = [status for status in map(_status, errors) if status is not None]
    if statuses and not any(_is(one, "HttpProcessingError") for one in errors):  # which has a made-up status
        return _of_status(statuses[0], url)
    for name, (reason, passing) in KINDS.items():
        if any(_is(one, name) for one in errors):
            return Trouble(reason or _no_credentials(url), passing)
    said = without_secrets(" ".join(str(error).split()), url)[:LONGEST_REASON].rstrip(". ")
    kind = type(error).__name__
    return Trouble(
        f"cannot be read ({kind}{': ' if said else ''}{said}); check the address", isinstance(error, OSError)
    )


def _is(error: BaseException, name: str) -> bool:
    """Whether an error is of a class of this name."""
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and those that it came from."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _status(error: BaseException) -> int | None:
    """The status that a server has answered with, as aiohttp, botocore or gcsfs tell it."""
    found: object = None
    if _is(error, "ClientResponseError") and not _is(error, "TooManyRedirects"):
        found = getattr(error, "status", None)
    elif isinstance(response := getattr(error, "response", None), dict):
        found = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    elif _is(error, "HttpError"):
        found = getattr(error, "code", None)
    return found if isinstance(found, int) and found >= 300 else None


def _of_status(status: int, url: str) -> Trouble:
    if status in ABSENT:
        return Trouble(f"there is no such file or folder (the server says {status}); check the address", False)
    if status in FORBIDDEN:
        known = CREDENTIALS.get(_family(url))
        what = f": {known}" if known else ", or ask for a new address if it was signed for a time"
        return Trouble(f"you have no permission to read it (the server says {status}); check your rights{what}", False)
    passing = status in BUSY or status >= 500
    return Trouble(f"the server answers with the error {status}; {'try again later' if passing else _CHECK}", passing)


_CHECK = "check the address"


def _family(url: str) -> str:
    protocol = protocol_of(url)
    return SAME.get(protocol, protocol)


def _no_credentials(url: str) -> str:
    return f"no credentials were found; {CREDENTIALS.get(_family(url), 'set them up as its fsspec package asks')}"
