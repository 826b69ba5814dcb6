"""What compiled loops call that is written for the processor by hand; numba is imported when a loop needs it."""

from typing import Any

from diln.engine.compile import Later


def _running_sums() -> Any:
    from diln.engine.lanes import running_sums

    return running_sums


def _fetch_row() -> Any:
    from diln.engine.fetch import fetch_row

    return fetch_row


def _fetch_cell() -> Any:
    from diln.engine.fetch import fetch_cell

    return fetch_cell


running_sums: Any = Later(_running_sums)
fetch_row: Any = Later(_fetch_row)
fetch_cell: Any = Later(_fetch_cell)
