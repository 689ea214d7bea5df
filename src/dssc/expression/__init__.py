"""Self-expression: every sample as a combination of the others, from X to C."""

from dssc.expression.elastic_net import elastic_net_representation
from dssc.expression.factor import LeastSquaresFactor, coefficients_at
from dssc.expression.gram import regularised_gram
from dssc.expression.lrsc import low_rank_representation
from dssc.expression.lsr import least_squares_representation
from dssc.expression.omp import omp_representation
from dssc.expression.s3comp import s3comp_representation
from dssc.expression.tsc import thresholded_similarity

__all__ = [
    "LeastSquaresFactor",
    "coefficients_at",
    "elastic_net_representation",
    "least_squares_representation",
    "low_rank_representation",
    "omp_representation",
    "regularised_gram",
    "s3comp_representation",
    "thresholded_similarity",
]
