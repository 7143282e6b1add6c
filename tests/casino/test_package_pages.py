"""Every package has a page that names its files, and a file that a page names is there."""

import re
from pathlib import Path

from casino.embedded.servers import BASE_DIR

DOCS = BASE_DIR / "docs"
ROW = re.compile(r"^\| ((?:`[\w/]+`(?:, )?)+) \|.*\| (.*) \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]+)")
FILE = re.compile(r"`([\w/]+\.py)`")
APPS = ("casino", "dealer_ui", "deploy", "ledger", "tables", "tests")
PRODUCT = ("casino", "dealer_ui", "ledger", "tables")
ELSEWHERE = ("games", "migrations", "commands", "formats")
"""Folders whose files other pages list: each game has a page, README.md lists the commands."""
UNNAMED = ("__init__.py", "urls.py", "apps.py")


def pages_of_packages() -> dict[str, str]:
    """The text of the pages that docs/architecture.md gives each package or module, by its path without ``.py``."""
    pages: dict[str, str] = {}
    for packages, links in ROW.findall((DOCS / "architecture.md").read_text()):
        text = "".join((DOCS / link).read_text() for link in LINK.findall(links) if link.endswith(".md"))
        pages |= dict.fromkeys(re.findall(r"[\w/]+", packages), text)
    return pages


def files_of_packages() -> list[Path]:
    """The files that a page has to name, by their paths in the repository."""
    files = [file.relative_to(BASE_DIR) for app in PRODUCT for file in (BASE_DIR / app).rglob("*.py")]
    return [file for file in files if file.name not in UNNAMED and not set(ELSEWHERE) & set(file.parts)]


def row_of(file: Path, pages: dict[str, str]) -> str:
    """The row of the file in docs/architecture.md: its own, or that of the nearest package around it."""
    around = [str(file.with_suffix("")), *(str(folder) for folder in file.parents)]
    return next((path for path in around if path in pages), "")


def test_a_package_has_a_page_that_names_its_files() -> None:
    """Harm: no page explains the purpose of a file that a maintainer finds."""
    pages = pages_of_packages()
    files = files_of_packages()
    assert len(files) > 500
    assert [str(file) for file in files if not row_of(file, pages)] == []
    unnamed = [file for file in files if not re.search(rf"[`/]{re.escape(file.name)}`", pages[row_of(file, pages)])]
    assert unnamed == [], "\n".join(["name these files, with what each is for:", *map(place_of, unnamed)])


def place_of(file: Path) -> str:
    """A file, and the pages that may name it."""
    rows = ROW.findall((DOCS / "architecture.md").read_text())
    links = {name: LINK.findall(links) for names, links in rows for name in re.findall(r"[\w/]+", names)}
    pages = [link for link in links[row_of(file, pages_of_packages())] if not link.startswith("adding-")]
    return f"{file} on docs/{' or docs/'.join(pages)}"


def test_a_package_that_the_architecture_names_is_there() -> None:
    """Harm: the first page that a maintainer reads describes packages that were renamed."""
    gone = [
        path
        for path in pages_of_packages()
        if not ((BASE_DIR / path).is_dir() or (BASE_DIR / path).with_suffix(".py").is_file())
    ]
    assert gone == []


def test_every_package_of_the_layers_has_a_row() -> None:
    """Harm: a layer of tables or of the screens is in the import contract, and no page says its responsibility."""
    pages = pages_of_packages()
    folders = [folder for app in ("tables", "dealer_ui") for folder in (BASE_DIR / app).iterdir()]
    packages = [str(folder.relative_to(BASE_DIR)) for folder in folders if (folder / "__init__.py").is_file()]
    rowless = {name for name in packages if not any(path == name or path.startswith(f"{name}/") for path in pages)}
    assert rowless - {"tables/migrations"} == set()


def test_a_file_that_a_page_names_is_there() -> None:
    """Harm: a page sends its reader to a module that was moved or split long ago."""
    files = (
        "\n".join(f"/{file.relative_to(BASE_DIR)}" for app in APPS for file in (BASE_DIR / app).rglob("*.py")) + "\n"
    )
    names = [(page.name, name) for page in sorted(DOCS.rglob("*.md")) for name in FILE.findall(page.read_text())]
    assert len(names) > 100
    assert [(page, name) for page, name in names if f"/{name}\n" not in files] == []
