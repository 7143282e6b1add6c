"""Every room has a page that names its files, and a file that a page names is there."""

import re

from casino.embedded.servers import BASE_DIR

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


def test_a_room_has_a_page_that_names_its_files() -> None:
    """Harm: no page explains the purpose of a file that a maintainer finds."""
    pages = pages_of_rooms()
    files = [(room, file) for room, file in files_of_rooms() if file not in ("__init__.py", "urls.py", "apps.py")]
    assert len(files) > 100
    unnamed = [(room, file) for room, file in files if not re.search(rf"[`/]{re.escape(file)}`", pages[room])]
    assert unnamed == []


def test_a_file_that_a_page_names_is_there() -> None:
    """Harm: a page sends its reader to a module that was moved or split long ago."""
    files = (
        "\n".join(f"/{file.relative_to(BASE_DIR)}" for app in APPS for file in (BASE_DIR / app).rglob("*.py")) + "\n"
    )
    names = [(page.name, name) for page in sorted(DOCS.rglob("*.md")) for name in FILE.findall(page.read_text())]
    assert len(names) > 100
    assert [(page, name) for page, name in names if f"/{name}\n" not in files] == []
