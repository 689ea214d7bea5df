"""Types that signatures share."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
# An ndarray or a scipy.sparse array. SciPy carries no annotations, so checkers see Any.
Matrix: TypeAlias = Any
# What `random_state` takes.
RandomState: TypeAlias = int | np.random.RandomState | None
