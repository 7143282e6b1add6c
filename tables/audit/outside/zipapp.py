"""Packs the verifier into one file: a Python zip application of the pure modules, without Django and database."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]
ROOMS: Final = (
    "ledger/proof",
    "tables/games",
    "tables/log",
    "tables/audit/outside",
    "tables/refusals.py",
)
"""The paths that it needs. msgspec and cryptography are not included and must be installed."""
_MAIN: Final = b'''"""Verify an audit bundle: python verifier.pyz BUNDLE [--key PUBKEY] [--roots BUNDLE ...]"""

import sys

try:
    from tables.audit.outside.verifier import main
except ModuleNotFoundError as missing:
    sys.exit(f"The package {missing.name} is missing: python -m pip install msgspec cryptography")
sys.exit(main())
'''


def build(path: Path) -> str:
    """Write the application. Equal code makes equal bytes. Returns their SHA-256 in hex."""
    with path.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in _files():
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
                archive.writestr(info, content)
    path.chmod(0o755)
    return sha256(path.read_bytes()).hexdigest()


def _files() -> Iterator[tuple[str, bytes]]:
    yield "__main__.py", _MAIN
    rooms = [ROOT / room for room in ROOMS]
    outer = {folder for room in rooms for folder in room.parents if ROOT in folder.parents}
    packages = sorted(folder / "__init__.py" for folder in outer)
    for file in [*packages, *(file for room in rooms for file in sorted(room.rglob("*.py")) or [room])]:
        yield file.relative_to(ROOT).as_posix(), file.read_bytes()
