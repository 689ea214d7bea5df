"""A clustering as one HTML page that needs nothing else: no network, no other files."""

from dssc.report.content import SILENT, certificate_of
from dssc.report.page import html_report
from dssc.report.png import encode_png
from dssc.report.scores import scores

__all__ = ["SILENT", "certificate_of", "encode_png", "html_report", "scores"]
