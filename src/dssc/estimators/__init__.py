"""scikit-learn estimators: thin compositions of the stages."""

from dssc.estimators.adssc import ADSSC
from dssc.estimators.closed_form import LRSC, LSR
from dssc.estimators.elastic_net import SSC, EnSC
from dssc.estimators.jdssc import JDSSC
from dssc.estimators.pursuit import S3COMP, SSCOMP
from dssc.estimators.tsc import TSC

__all__ = ["ADSSC", "JDSSC", "LRSC", "LSR", "S3COMP", "SSC", "SSCOMP", "TSC", "EnSC"]
