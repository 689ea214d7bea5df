"""scikit-learn estimators: thin compositions of the stages."""

from dssc.estimators.adssc import ADSSC

__all__ = ["ADSSC"]
