"""Parameters without labels: a choice of eta1 and of the number of neighbours."""

from dssc.selection.choice import Candidate, Choice
from dssc.selection.search import select

__all__ = ["Candidate", "Choice", "select"]
