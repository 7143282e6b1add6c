"""Functions in machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def jit(function: Function) -> Function:
    """The function in machine code, which is kept on disk; where no folder can be written to, each process makes it.

    It keeps no lock while it runs, so threads run it side by side. Nothing checks that it divides by something.
    """
    try:
        return cast(Function, numba.njit(nogil=True, cache=True, error_model="numpy")(function))
    except RuntimeError:
        return cast(Function, numba.njit(nogil=True, error_model="numpy")(function))


def inlined(function: Function) -> Function:
    """A part of functions in machine code, put into each of them: a call costs as much as some cards."""
    return cast(Function, numba.njit(nogil=True, inline="always", error_model="numpy")(function))
