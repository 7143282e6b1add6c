"""Functions in machine code, and their cache on disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from numba.core.caching import InTreeCacheLocator, UserProvidedCacheLocator, UserWideCacheLocator

Function = TypeVar("Function", bound=Callable[..., Any])
SOURCES: Final = Path(__file__).parent


@cache
def sources_digest() -> str:
    """SHA-256 of all modules of this package, in hex."""
    digest = sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


class _OfTheseSources:
    """Stores machine code in a folder of its own for each state of the sources.

    numba compares the function's own file only. But cached code refers to types by module and name, and contains
    functions of other modules: after an upgrade, its index would fail to load, or it would compute by earlier rules.
    """

    def get_cache_path(self) -> str:
        """The folder. Folders of earlier releases may be deleted at any time."""
        folder: str = super().get_cache_path()  # type: ignore[misc]
        return str(Path(folder, f"maths-{sources_digest()[:16]}"))


class ConfiguredCacheLocator(_OfTheseSources, UserProvidedCacheLocator):
    """In the folder of ``NUMBA_CACHE_DIR``, which an installed server sets."""


class PackageCacheLocator(_OfTheseSources, InTreeCacheLocator):
    """In the ``__pycache__`` folder of the module."""


class UserCacheLocator(_OfTheseSources, UserWideCacheLocator):
    """In the user's cache folder, where the installation cannot be written to."""


# numba declares its settings at run time, so that its types lack them.
numba.config.CACHE_LOCATOR_CLASSES = (  # type: ignore[attr-defined]
    f"{__name__}.ConfiguredCacheLocator,{__name__}.PackageCacheLocator,{__name__}.UserCacheLocator"
)


def jit(function: Function) -> Function:
    """Compile a function to machine code, cached on disk; if no folder is writable, each process compiles it.

    It releases the GIL, so threads run it in parallel. Divisions by zero are not checked.
    """
    try:
        return cast(Function, numba.njit(nogil=True, cache=True, error_model="numpy")(function))
    except RuntimeError:
        return cast(Function, numba.njit(nogil=True, error_model="numpy")(function))


def inlined(function: Function) -> Function:
    """A part of functions in machine code, put into each of them: a call costs as much as some cards."""
    return cast(Function, numba.njit(nogil=True, inline="always", error_model="numpy")(function))
