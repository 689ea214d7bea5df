"""scikit-learn estimators: thin compositions of the stages."""

from dssc.estimators.adssc import ADSSC
from dssc.estimators.jdssc import JDSSC

__all__ = ["ADSSC", "JDSSC"]
