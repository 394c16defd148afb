"""Names for the arrays that kernels take."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.int64]
Columns: TypeAlias = NDArray[np.int32]
Integers: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = NDArray[np.signedinteger[Any]]
Mask: TypeAlias = NDArray[np.bool_]
