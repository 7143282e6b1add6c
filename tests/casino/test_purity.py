"""The pure parts import the standard library, msgspec and each other: import-linter cannot say "nothing else"."""

import ast
import sys
from pathlib import Path

from casino.embedded.servers import BASE_DIR

PURE = [
    *sorted((BASE_DIR / "tables" / "games").glob("*.py")),
    *sorted((BASE_DIR / "tables" / "maths").glob("*.py")),
    BASE_DIR / "ledger" / "proof" / "chips.py",
]
ALLOWED = {"msgspec", *sys.stdlib_module_names}
BESIDES = {"tables.maths": ("numpy", "numba", "tables.games")}
"""What a pure part may import of others."""
IMPURE = {"datetime", "os", "random", "secrets", "socket", "subprocess", "time", "threading", "uuid"}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import"
            names.add(node.module or "")
    return names


def test_rules_of_games_import_no_clock_chance_or_network() -> None:
    """Harm: a rule of a game depends on the clock, chance or the network, and a replay of the log gives another
    result."""
    assert len(PURE) > 20
    assert [
        f"{path.relative_to(BASE_DIR)} imports {name}"
        for path in PURE
        for name in imported(path)
        if is_impure(path, name)
    ] == []


def is_impure(path: Path, name: str) -> bool:
    own = ".".join(path.relative_to(BASE_DIR).parts[:2]).removesuffix(".py")
    if any(name == part or name.startswith(f"{part}.") for part in (own, *BESIDES.get(own, ()))):
        return False
    top = name.split(".")[0]
    return top not in ALLOWED or top in IMPURE
