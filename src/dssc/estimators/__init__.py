"""scikit-learn estimators, one per file."""

from dssc.estimators.adssc import ADSSC
from dssc.estimators.ensc import EnSC
from dssc.estimators.graph_clustering import GraphClustering
from dssc.estimators.jdssc import JDSSC
from dssc.estimators.lrsc import LRSC
from dssc.estimators.lsr import LSR
from dssc.estimators.s3comp import S3COMP
from dssc.estimators.ssc import SSC
from dssc.estimators.sscomp import SSCOMP
from dssc.estimators.tsc import TSC

__all__ = [
    "ADSSC",
    "JDSSC",
    "LRSC",
    "LSR",
    "S3COMP",
    "SSC",
    "SSCOMP",
    "TSC",
    "EnSC",
    "GraphClustering",
]
