"""What a fit leaves for the next one, with ``warm_start=True``."""

from dataclasses import dataclass
from typing import Any

import joblib

from dssc._cluster_rows import ClusterRows
from dssc._devices import is_tensor
from dssc.engines import SelfExpression
from dssc.selection import Choice
from dssc.spectral import StartVectors


@dataclass(frozen=True)
class WarmStart:
    """A choice of parameters and a self-expression, each with a key of what it belongs to.

    Attributes
    ----------
    choice_key : str
        Key of the data and parameters of the choice.
    choice : Choice or None
        The choice, without its self-expression.
    expression_key : str
        Key of the data and parameters of the self-expression.
    expression : SelfExpression or None
        The self-expression, with what its projections have found so far.
    start : StartVectors or None
        The eigenvectors of its last affinity.
    """

    choice_key: str = ""
    choice: Choice | None = None
    expression_key: str = ""
    expression: SelfExpression | None = None
    start: StartVectors | None = None


def key_of(X: Any, *parameters: Any) -> str:
    """Return a key of some data and parameters.

    A tensor counts its own changes; of an array the content is read, and a Dask array
    has a name.
    """
    data = (X.data_ptr(), X.shape, X._version) if is_tensor(X) else X
    data = X.key if isinstance(X, ClusterRows) else data
    return joblib.hash((data, parameters), hash_name="sha1")
