"""Parts of SciPy, loaded on first use, because loading takes time."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy import fft as fft
    from scipy import optimize as optimize
    from scipy import sparse as sparse
    from scipy import special as special
else:

    class _Later:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401
            return getattr(import_module(self._name), attribute)

    fft, optimize, special, sparse = (
        _Later(f"scipy.{name}") for name in ("fft", "optimize", "special", "sparse")
    )
