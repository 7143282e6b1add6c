"""Measure `imports`: packages of the product, and what the imports between them look like.

- A package is a directory with at least one module that contains code or is not an ``__init__``. Modules at the root
  of a top package (``tables/x.py``) belong to that package (``tables``), and an ``__init__`` belongs to its own.
- An import is any ``import`` statement of one module of the product that names another, including those in functions
  and under ``TYPE_CHECKING``. ``from a import b`` imports the module ``a.b`` where there is one, else ``a``.
- An arrow is an ordered pair of packages: a module of the first imports one of the second.
- A cycle is a strongly connected component of more than one package, or of more than one module.
- Layers are the packages on the longest chain of arrows, each cycle taken as one package. In the same way, module
  layers are the modules on the longest chain of imports. A cycle hides layers: their number can rise when it is cut.
"""

import ast
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from tests.structure.sources import Source, product
from tests.structure.text_table import text_table

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True)
class Graph(Generic[Node]):
    """A directed graph: all nodes, each with those that it points at."""

    arrows: Mapping[Node, frozenset[Node]]

    @cached_property
    def components(self) -> list[frozenset[Node]]:
        """Strongly connected components, each after those that it points at (Tarjan, without recursion)."""
        walk = _Walk(self.arrows)
        for node in self.arrows:
            walk.visit(node)
        return walk.components

    @property
    def cycles(self) -> list[frozenset[Node]]:
        return [component for component in self.components if len(component) > 1]

    @property
    def layers(self) -> int:
        """Number of components on the longest chain of arrows."""
        height: dict[Node, int] = {}
        for component in self.components:
            below = {end for node in component for end in self.arrows[node]} - component
            level = 1 + max((height[end] for end in below), default=0)
            height.update(dict.fromkeys(component, level))
        return max(height.values(), default=0)

    @property
    def pairs(self) -> list[tuple[Node, Node]]:
        return [(start, end) for start, ends in self.arrows.items() for end in ends]


class _Walk(Generic[Node]):
    """State of Tarjan's algorithm."""

    def __init__(self, arrows: Mapping[Node, frozenset[Node]]) -> None:
        self.arrows = arrows
        self.components: list[frozenset[Node]] = []
        self._order: dict[Node, int] = {}
        self._lowest: dict[Node, int] = {}
        self._open: list[Node] = []

    def visit(self, root: Node) -> None:
        if root in self._order:
            return
        path = [(root, self._enter(root))]
        while path:
            node, ends = path[-1]
            end = next(ends, None)
            if end is None:
                path.pop()
                self._leave(node, path[-1][0] if path else None)
            elif end not in self._order:
                path.append((end, self._enter(end)))
            elif end in self._open:
                self._lowest[node] = min(self._lowest[node], self._order[end])

    def _enter(self, node: Node) -> Iterator[Node]:
        self._order[node] = self._lowest[node] = len(self._order)
        self._open.append(node)
        return iter(self.arrows[node])

    def _leave(self, node: Node, parent: Node | None) -> None:
        if parent is not None:
            self._lowest[parent] = min(self._lowest[parent], self._lowest[node])
        if self._lowest[node] == self._order[node]:
            start = self._open.index(node)
            self.components.append(frozenset(self._open[start:]))
            del self._open[start:]


@dataclass(frozen=True)
class Import:
    """One module of the product imports another, in this line."""

    importer: Source
    imported: Source
    line: int

    def __str__(self) -> str:
        return f"{self.importer.path}:{self.line} imports {self.imported.module}"

    @property
    def packages(self) -> tuple[str, str]:
        return self.importer.package, self.imported.package


def imports_of(sources: Sequence[Source]) -> list[Import]:
    """All imports of one of these files by another."""
    by_module = {source.module: source for source in sources}
    return [
        Import(source, by_module[name], line)
        for source in sources
        for name, line in _names(source, by_module)
        if by_module[name] is not source
    ]


def _names(source: Source, known: Mapping[str, Source]) -> Iterator[tuple[str, int]]:
    """The modules that a file imports, with lines."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = _base(source, node)
            names = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names]
            yield from ((name, node.lineno) for name in dict.fromkeys(names) if name in known)


def _base(source: Source, node: ast.ImportFrom) -> str:
    """Absolute name of the module in ``from MODULE import ...``; the dots of a relative one count from the package."""
    if not node.level:
        return node.module or ""
    parts = source.package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


def packages_of(sources: Sequence[Source], imports: Sequence[Import]) -> Graph[str]:
    """The packages and their arrows."""
    names = {source.package for source in sources if source.tree.body or not source.path.endswith("__init__.py")}
    pairs = {each.packages for each in imports if len(set(each.packages)) > 1}
    names |= {name for pair in pairs for name in pair}
    return Graph({name: frozenset(end for start, end in sorted(pairs) if start == name) for name in sorted(names)})


def modules_of(sources: Sequence[Source], imports: Sequence[Import]) -> Graph[str]:
    """The modules and their imports."""
    ends: dict[str, set[str]] = {source.module: set() for source in sources}
    for each in imports:
        ends[each.importer.module].add(each.imported.module)
    return Graph({name: frozenset(imported) for name, imported in ends.items()})


def report(*, listed: bool) -> str:
    sources = product()
    imports = imports_of(sources)
    packages, modules = packages_of(sources, imports), modules_of(sources, imports)
    rows = [
        ("packages", len(packages.arrows), packages.layers, len(packages.pairs), len(packages.cycles)),
        ("modules", len(modules.arrows), modules.layers, len(modules.pairs), len(modules.cycles)),
    ]
    parts = [text_table(("", "number", "layers", "arrows", "cycles"), rows)]
    parts += [_package_cycle(cycle, imports, listed=listed) for cycle in packages.cycles]
    parts += [_module_cycle(cycle, imports) for cycle in modules.cycles]
    return "\n\n".join(parts)


def _package_cycle(cycle: frozenset[str], imports: Sequence[Import], *, listed: bool) -> str:
    """The packages of a cycle and its arrows, each with the number of imports that make it; or all these imports."""
    inside = [each for each in imports if set(each.packages) <= cycle and len(set(each.packages)) > 1]
    counts = Counter(each.packages for each in inside)
    head = f"Cycle of {len(cycle)} packages, {len(counts)} arrows: {', '.join(sorted(cycle))}"
    rows = [(f"  {start} -> {end}", count) for (start, end), count in sorted(counts.items(), key=lambda row: row[::-1])]
    lines = [f"  {each}" for each in inside] if listed else [text_table(("  arrow", "imports"), rows)]
    return "\n".join([head, *lines])


def _module_cycle(cycle: frozenset[str], imports: Sequence[Import]) -> str:
    inside = [each for each in imports if {each.importer.module, each.imported.module} <= cycle]
    return "\n".join([f"Cycle of {len(cycle)} modules: {', '.join(sorted(cycle))}", *(f"  {each}" for each in inside)])
