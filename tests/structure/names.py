"""Measure `names`: class names with several meanings, and names that are participles or pronouns.

- A class name is shared where more than two classes of the product have it, nested classes included. Names that
  Django prescribes (`PRESCRIBED`) do not count.
- A name is vague where it is one of `VAGUE`, a short list of participles, pronouns and adverbs that the glossary
  replaces. Leading underscores do not matter. Compounds (``kept_sheets``) do not count: many are good names.
- Modules are files, and packages their directories. Definitions are functions, classes, parameters and variables at
  each place where they are bound.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from tests.structure.sources import Source, product, share
from tests.structure.text_table import text_table

_VAGUE_WORDS: Final = """
    acknowledged apart asked beside chosen confirmed done found given had heard held kept known left made moved noted
    one owed owing past said seen sent shown somebody standing taken telling them they told unseen wanted whither who
    whoever whom whose"""
VAGUE: Final = frozenset(_VAGUE_WORDS.split())
PRESCRIBED: Final = frozenset({"Command", "Media", "Meta"})
"""Class names that Django prescribes."""
SHARED: Final = 2
"""Classes that may have one name, at most."""


def report(*, listed: bool) -> str:
    sources = product()
    places = class_places(sources)
    shared = {name: where for name, where in places.items() if len(where) > SHARED}
    modules = vague_modules(sources)
    definitions = list(_definitions(sources))
    vague = Counter(name for name, _ in definitions if is_vague(name))
    classes = sum(len(where) for where in places.values())
    sharing = sum(len(where) for where in shared.values())
    rows = [
        (f"class names of more than {SHARED} classes", len(shared), share(len(shared), len(places))),
        ("classes with such a name", sharing, share(sharing, classes)),
        ("vague names of modules and packages", len(modules), share(len(modules), len(_module_paths(sources)))),
        ("vague names among definitions", vague.total(), share(vague.total(), len(definitions))),
    ]
    parts = [text_table(("", "number", "share"), rows), _shared(shared), _modules(modules), _vague(vague)]
    if listed:
        parts.append("\n".join(f"{place}: {name}" for name, place in definitions if is_vague(name)))
    return "\n\n".join(parts)


def is_vague(name: str) -> bool:
    return name.lstrip("_") in VAGUE


def class_places(sources: Sequence[Source]) -> dict[str, list[str]]:
    """Each class name, with the places where a class has it."""
    places: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef) and node.name not in PRESCRIBED:
                places[node.name].append(f"{source.path}:{node.lineno}")
    return places


def vague_modules(sources: Sequence[Source]) -> list[str]:
    """Paths of modules and directories with a vague name."""
    return [path for path in _module_paths(sources) if is_vague(PurePosixPath(path).stem)]


def _module_paths(sources: Sequence[Source]) -> list[str]:
    """Files apart from ``__init__.py``, and the directories of all."""
    files = {source.path for source in sources if not source.path.endswith("__init__.py")}
    return sorted(files | {f"{PurePosixPath(source.path).parent}/" for source in sources})


def _definitions(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Names that are bound, each with its place. Attributes that a method assigns are left out."""
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name, f"{source.path}:{node.lineno}"
            elif isinstance(node, ast.arg):
                yield node.arg, f"{source.path}:{node.lineno}"
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, f"{source.path}:{node.lineno}"


def _shared(shared: dict[str, list[str]]) -> str:
    ordered = sorted(shared.items(), key=lambda row: (-len(row[1]), row[0]))
    return "\n".join(["Shared class names:", *(f"  {name} ({len(at)}): {', '.join(at)}" for name, at in ordered)])


def _modules(modules: Sequence[str]) -> str:
    return "\n".join(["Vague names of modules and packages:", *(f"  {path}" for path in modules)])


def _vague(counts: Counter[str]) -> str:
    return "Vague names among definitions: " + ", ".join(f"{name} {count}" for name, count in counts.most_common(20))
