"""The demo's witness.

It runs on the machine of the site, so it demonstrates a witness and proves nothing to outsiders. The witness of a real
site runs on a machine outside the casino's control (docs/witness.md).
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final

from ledger.proof import seals
from ledger.proof.note import COSIGNATURE, VerifierKey
from tables.audit import checkpoints
from tables.log.witnesses import SHOWN_HEADS
from tables.management.commands.seed_demo import OPERATOR, by_two
from tables.models import Staff
from tables.setup import policies

ORIGIN: Final = "demo.example/books"
NAME: Final = "demo.example/witness"
PORTS: Final = range(8790, 8890)
"""Below the ports of outgoing connections, so that the chosen port is free at the next start too."""


def prepare(folder: Path) -> None:
    """Unless the site has a tree: make the witness's key, begin the tree, and name the witness in the policies."""
    if checkpoints.current_tree() is not None:
        return
    key, port = folder / "witness-key.pem", next(filter(_is_free, PORTS))
    public = VerifierKey.of(NAME, COSIGNATURE, seals.load_key(key) if key.exists() else seals.make_key(key))
    tree = checkpoints.begin(ORIGIN)
    _name(f"{public} http://127.0.0.1:{port} {SHOWN_HEADS}")
    options = ("--name", NAME, "--key", key, "--file", folder / "witness-seen.jsonl", "--log", tree.key, "--port", port)
    (folder / "witness-options").write_text("\n".join(map(str, options)))


def _name(witness: str) -> None:
    values, operator = {"witness_first": witness}, Staff.objects.get(username=OPERATOR.username)
    by_two(policies.draft(values), lambda: policies.change(values, by=operator), operator)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
