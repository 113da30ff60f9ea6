"""Parts of SciPy, loaded on first use."""

from typing import TYPE_CHECKING

from balframe._lazy_import import LazyModule

if TYPE_CHECKING:
    from scipy import fft as fft
    from scipy import optimize as optimize
    from scipy import sparse as sparse
    from scipy import special as special
else:
    fft, optimize, special, sparse = (
        LazyModule(f"scipy.{name}") for name in ("fft", "optimize", "special", "sparse")
    )
