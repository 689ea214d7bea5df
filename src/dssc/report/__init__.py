"""A clustering as one HTML page that needs nothing else: no network, no other files."""

from dssc.report.class_scores import class_scores
from dssc.report.content import certificate_of
from dssc.report.page import html_report
from dssc.report.png import encode_png
from dssc.report.recipe import HIDDEN_PARAMETERS

__all__ = ["HIDDEN_PARAMETERS", "certificate_of", "class_scores", "encode_png", "html_report"]
