"""A report on a model: one HTML file that opens from the disk without a network, and prints."""

from diln.show.report.write import write_report

__all__ = ["write_report"]
