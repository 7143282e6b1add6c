"""Every room has a page that names its files, and a file that a page names is there."""

import re
from pathlib import Path

import pytest

from casino.embedded import BASE_DIR

DOCS = BASE_DIR / "docs"
ROW = re.compile(r"^\| ((?:`[\w/]+`(?:, )?)+) \|.*\| (.*) \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]+)")
FILE = re.compile(r"`([\w/]+\.py)`")
APPS = ("casino", "dealer_ui", "deploy", "ledger", "tables", "tests")


def pages_of_rooms() -> dict[str, str]:
    """The text of the pages that docs/architecture.md gives each room."""
    pages = {}
    for rooms, links in ROW.findall((DOCS / "architecture.md").read_text()):
        text = "".join((DOCS / link).read_text() for link in LINK.findall(links))
        pages |= dict.fromkeys(re.findall(r"\w+", rooms), text)
    return pages


def files_of_rooms() -> list[tuple[str, str]]:
    folders = [*(BASE_DIR / "tables").iterdir(), *(BASE_DIR / app for app in ("ledger", "casino", "casino/office"))]
    rooms = [folder for folder in folders if folder.name not in ("games", "templates", "migrations", "__pycache__")]
    return [(room.name, file.name) for room in rooms if room.is_dir() for file in room.glob("*.py")]


@pytest.mark.parametrize(("room", "file"), files_of_rooms())
def test_a_room_has_a_page_that_names_its_files(room: str, file: str) -> None:
    """Harm: whoever takes the code over finds a file of which nobody says what it is for."""
    page = pages_of_rooms()[room]
    assert page, f"{room} has no page in docs/architecture.md"
    assert file in ("__init__.py", "urls.py", "apps.py") or f"`{file}`" in page or f"/{file}`" in page


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_a_file_that_a_page_names_is_there(page: Path) -> None:
    """Harm: a page sends its reader to a module that was moved or split long ago."""
    files = [f"/{file.relative_to(BASE_DIR)}" for app in APPS for file in (BASE_DIR / app).rglob("*.py")]
    for name in FILE.findall(page.read_text()):
        assert any(file.endswith(f"/{name}") for file in files), f"{name} is nowhere"
