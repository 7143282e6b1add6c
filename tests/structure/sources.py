"""Python files of the product and of the tests, as text and syntax trees, each with its module and package."""

import ast
import math
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = ("casino", "ledger", "tables", "dealer_ui")
MIGRATIONS: Final = "migrations"

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Documented: TypeAlias = ast.Module | ast.ClassDef | Function


@dataclass(frozen=True)
class Source:
    """One file; ``path`` is relative to the root of the repository."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def module(self) -> str:
        """Dotted name: ``tables/log/__init__.py`` is ``tables.log``."""
        return dotted(self.path.removesuffix(".py")).removesuffix(".__init__")

    @property
    def package(self) -> str:
        """Dotted name of the directory: that of ``tables/log/__init__.py`` is ``tables.log``, too."""
        return package_of(self.path)


def dotted(path: str) -> str:
    return path.replace("/", ".")


def package_of(path: str) -> str:
    """The package of a file: its directory, as a dotted name."""
    return dotted(str(PurePosixPath(path).parent))


@cache
def product() -> Sequence[Source]:
    """All files of the product, without migrations."""
    return [source for source in _tracked(*PRODUCT) if MIGRATIONS not in PurePosixPath(source.path).parts]


@cache
def tests() -> Sequence[Source]:
    """All files below ``tests/``: tests, fixtures, benchmarks."""
    return _tracked("tests")


def _tracked(*folders: str) -> Sequence[Source]:
    """Files that git tracks, as they are in the work tree."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--", *folders]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    paths = [path for path in sorted(listed) if path.endswith(".py") and (ROOT / path).exists()]
    return [Source(path, (ROOT / path).read_text()) for path in paths]


def functions(source: Source) -> Iterator[Function]:
    """All functions and methods, nested ones included."""
    return (node for node in ast.walk(source.tree) if isinstance(node, Function))


def spread(values: Sequence[int]) -> str:
    """Median, 90th percentile (nearest rank) and maximum: ``4 / 14 / 83``."""
    ordered = sorted(values)
    ranks = [max(1, math.ceil(len(ordered) * share)) - 1 for share in (0.5, 0.9, 1)]
    return " / ".join(str(ordered[rank]) for rank in ranks) if ordered else "-"


def share(part: int, whole: int) -> str:
    """A percentage with one decimal."""
    return f"{100 * part / whole:.1f} %" if whole else "-"
