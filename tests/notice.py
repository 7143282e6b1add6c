"""`python -m tests.notice [--write]`: NOTICE names the licence of all that a site installs and that others wrote.

A licence is read from the metadata of the package. The lines of packages that this environment lacks, because they are
for another Python or another host, stay as they are; a new one of these is entered by hand.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path
from typing import Final

NOTICE: Final = Path("NOTICE")
REQUIREMENTS: Final = ("app", "patroni", "uv")
"""What is installed on a site's hosts. Tests alone need what else dev.txt has."""
STATIC: Final = Path("dealer_ui/static/dealer_ui")
VENDORED: Final = STATIC / "VENDORED.md"
FILES, PACKAGES = "Files by others\n\n", "Python packages\n\n"
SPDX: Final = {
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
}
FONTS: Final = {".woff2", ".woff", ".ttf", ".otf"}
CODE: Final = {".js", ".css"}
UNKNOWN: Final = "UNKNOWN"
LONGEST_LINE: Final = 1_000
"""Code with longer lines was minified, so it is not ours."""


def required() -> set[str]:
    lists = "\n".join(Path("requirements", f"{name}.txt").read_text() for name in REQUIREMENTS)
    return set(re.findall(r"^([a-z0-9-]+)==", lists, re.MULTILINE))


def licence(package: PackageMetadata) -> str:
    """As an SPDX expression where the metadata has one, else by its classifiers, else by its own words."""
    if expression := package.get("License-Expression"):
        return expression
    classified = [
        text.rpartition(" :: ")[2] for text in package.get_all("Classifier", []) if text.startswith("License")
    ]
    words = classified or (package.get("License") or "").splitlines()[:1]
    return " OR ".join(SPDX.get(word, word) for word in words)


def read(text: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """What is written by hand, then the licences of files and of packages."""
    words, _, lists = text.partition(FILES)
    files, _, packages = lists.partition(PACKAGES)
    return words, _rows(files), _rows(packages)


def _rows(text: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in text.splitlines() if line.strip())


def vendored() -> dict[str, str]:
    """The licences of VENDORED.md, by the path of the file."""
    rows = [line.replace("`", "").split("|") for line in VENDORED.read_text().splitlines() if line.startswith("| `")]
    return {str(STATIC / row[1].strip()): row[-2].strip() for row in rows}


def packages(listed: dict[str, str]) -> dict[str, str]:
    """The licence of each required package: that of the installed one or, where there is none, as it is listed."""
    rows: dict[str, str] = {}
    for name in sorted(required()):
        try:
            rows[name] = licence(metadata(name)) or UNKNOWN
        except PackageNotFoundError:
            rows[name] = listed.get(name, UNKNOWN)
    return rows


def composed(text: str) -> str:
    """NOTICE as it should be."""
    words, _, listed = read(text)
    return f"{words}{FILES}{_listed(vendored())}\n{PACKAGES}{_listed(packages(listed))}"


def _listed(rows: dict[str, str]) -> str:
    return "".join(f"{name:<44} {is_under}\n" for name, is_under in rows.items())


def problems(text: str) -> Iterator[str]:
    _, files, listed = read(text)
    for path, is_under in vendored().items():
        if files.get(path) != is_under:
            yield f"NOTICE does not say that {path} is under {is_under}."
    for name, is_under in packages(listed).items():
        if is_under == UNKNOWN:
            yield f"The licence of {name} is unknown: install it, or enter it in NOTICE."
        elif listed.get(name) != is_under:
            yield f"NOTICE does not say that {name} is under {is_under}."
    for name in sorted(listed.keys() - required()):
        yield f"NOTICE names {name}, which is not required any more."
    for path in sorted(_of_others() - vendored().keys()):
        yield f"{path} is not ours, and {VENDORED} does not name it."


def _of_others() -> set[str]:
    """Fonts and minified code under static files."""
    files = [path for folder in Path().glob("*/static") for path in folder.rglob("*") if path.is_file()]
    return {str(path) for path in files if path.suffix in FONTS or (path.suffix in CODE and _is_minified(path))}


def _is_minified(path: Path) -> bool:
    return any(len(line) > LONGEST_LINE for line in path.read_text().splitlines())


def main(arguments: list[str]) -> int:
    if "--write" in arguments:
        NOTICE.write_text(composed(NOTICE.read_text()))
    wrong = list(problems(NOTICE.read_text()))
    print("\n".join(wrong) or "NOTICE names every licence.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
