"""Measure `docstrings`: docstrings that cannot be read alone, or use a word that the glossary replaces.

- A docstring is that of a module, class or function, or a string on its own below an assignment.
- It leans on its neighbour where it begins with "The same".
- Replaced words are `REPLACED`, in any case, as whole words. A docstring counts once for each.
- It is short where it has at most four words.
- A function or class is public where its name has no leading underscore.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tests.structure.sources import Documented, Function, Source, product, share, tests
from tests.structure.text_table import text_table

REPLACED: Final = ("whoever", "somebody", "nobody", "is told", "comes to", "beside", "but for", "so many")
LEANING: Final = re.compile(r"The same\b")
SHORT_WORDS: Final = 4
_REPLACED: Final = {words: re.compile(r"\b" + words.replace(" ", r"\s+") + r"\b", re.IGNORECASE) for words in REPLACED}


@dataclass(frozen=True)
class Docstring:
    """A docstring and the line where it begins."""

    path: str
    line: int
    text: str

    @property
    def leans(self) -> bool:
        return LEANING.match(self.text.strip()) is not None

    @property
    def replaced(self) -> list[str]:
        return [words for words, pattern in _REPLACED.items() if pattern.search(self.text)]

    @property
    def is_short(self) -> bool:
        return len(self.text.split()) <= SHORT_WORDS


def report(*, listed: bool) -> str:
    groups = [docstrings(product()), docstrings(tests())]
    rows = [("docstrings", *(str(len(group)) for group in groups))]
    rows += [("begin with 'The same'", *(_part(group, [each for each in group if each.leans]) for group in groups))]
    for words in REPLACED:
        rows += [(f"contain '{words}'", *(_part(group, [d for d in group if words in d.replaced]) for group in groups))]
    rows += [("any of these", *(_part(group, [each for each in group if _faults(each)]) for group in groups))]
    rows += [(f"at most {SHORT_WORDS} words", *(_part(group, [d for d in group if d.is_short]) for group in groups))]
    rows += [("public functions and classes with a docstring", _documented(product()), _documented(tests()))]
    table = text_table(("", "product", "tests"), rows)
    return f"{table}\n\n{_list([each for group in groups for each in group])}" if listed else table


def docstrings(sources: Sequence[Source]) -> list[Docstring]:
    """All docstrings of these files."""
    return [
        Docstring(source.path, constant.lineno, constant.value)
        for source in sources
        for constant in _strings(source.tree)
        if isinstance(constant.value, str)
    ]


def _strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Strings that are statements of their own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


def _faults(docstring: Docstring) -> list[str]:
    return ["The same"] * docstring.leans + docstring.replaced


def _part(whole: Sequence[Docstring], part: Sequence[Docstring]) -> str:
    return f"{len(part)} ({share(len(part), len(whole))})"


def _documented(sources: Sequence[Source]) -> str:
    public = [node for source in sources for node in _public(source)]
    documented = [node for node in public if ast.get_docstring(node) is not None]
    return f"{len(documented)} of {len(public)} ({share(len(documented), len(public))})"


def _public(source: Source) -> Iterator[Documented]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_"):
            yield node


def _list(all_docstrings: Sequence[Docstring]) -> str:
    faulty = [(each, faults) for each in all_docstrings if (faults := _faults(each))]
    return "\n".join(f"{each.path}:{each.line}: {', '.join(faults)}" for each, faults in faulty)
