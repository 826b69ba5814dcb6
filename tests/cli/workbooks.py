"""What stands in a workbook of Excel: read from the XML itself, as Excel does."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

NS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of its first sheet, each a dictionary from columns (A, B, ...) to values; formulas raise."""
    with ZipFile(path) as book:
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    return [dict(map(_cell, row)) for row in sheet.iter(f"{NS}row")]


def _cell(cell: ElementTree.Element) -> tuple[str, Any]:
    assert cell.find(f"{NS}f") is None, "a formula"
    column = re.match("[A-Z]+", cell.attrib["r"])[0]
    kind, value = cell.attrib.get("t", "n"), "".join(cell.itertext())
    if kind == "inlineStr":
        return column, re.sub("_x([0-9A-F]{4})_", lambda code: chr(int(code[1], 16)), value)
    return column, bool(int(value)) if kind == "b" else float(value)
