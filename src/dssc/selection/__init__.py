"""Parameters without labels: eta1, the number of neighbours, the number of clusters."""

from dssc.selection.choice import Candidate, Choice
from dssc.selection.search import Given, select

__all__ = ["Candidate", "Choice", "Given", "select"]
