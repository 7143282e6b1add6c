"""``manage.py witness``: a small witness, for a machine outside the site's control. It needs no database."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.proof import note, seals
from ledger.proof.note import BadNote, VerifierKey
from ledger.proof.seals import BadKey
from tables.audit.outside.witness import Server, Witness
from tables.audit.outside.witness_file import BadFile, Memory, WitnessFile, memories, records


class Command(BaseCommand):
    """key, serve, show."""

    help = "Witness that a site's logs only grow: make the witness's key, serve, and show its observations."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        key = commands.add_parser("key", help="make the witness's key; or show its public half")
        serve = commands.add_parser("serve", help="answer sites")
        for command in (key, serve):
            command.add_argument("--name", required=True, help="the witness's name, as witness.example/floor")
            command.add_argument("--key", type=Path, required=True, metavar="FILE", help="its private key")
        serve.add_argument("--file", type=Path, required=True, help="its observations; the file only grows")
        serve.add_argument(
            "--log",
            action="append",
            required=True,
            metavar="VKEY",
            help="the key of a site's checkpoints, whose name is its origin; once for each",
        )
        serve.add_argument("--host", default="127.0.0.1")
        serve.add_argument("--port", type=int, default=8790)
        show = commands.add_parser("show", help="the latest that a file has of each log")
        show.add_argument("--file", type=Path, required=True)
        show.add_argument("--vkey", required=True, help="the witness's public key, as `witness key` showed it")

    def handle(self, *args: Any, command: str, **options: Any) -> None:
        """Run the sub-command; what it refuses is a sentence and no traceback."""
        try:
            getattr(self, f"_{command}")(**options)
        except (BadKey, BadNote, BadFile, OSError) as wrong:
            raise CommandError(str(wrong)) from None

    def _key(self, *, name: str, key: Path, **_: Any) -> None:
        private = seals.load_key(key) if key.exists() else seals.make_key(key)
        self.stdout.write(str(VerifierKey.of(name, note.COSIGNATURE, private)))

    def _serve(self, *, name: str, key: Path, file: Path, log: list[str], host: str, port: int, **_: Any) -> None:
        private = seals.load_key(key)
        logs: dict[str, list[VerifierKey]] = {}
        for vkey in map(VerifierKey.parse, log):
            logs.setdefault(vkey.name, []).append(vkey)
        memory = WitnessFile(file, VerifierKey.of(name, note.COSIGNATURE, private))
        try:
            with Server((host, port), Witness(name, private, logs, memory)) as server:
                self.stdout.write(f"{name} watches {', '.join(logs)} at {host}:{server.server_address[1]}")
                self.stdout.flush()
                server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            memory.close()

    def _show(self, *, file: Path, vkey: str, **_: Any) -> None:
        with file.open("rb") as lines:
            whole = (line for line in lines if line.endswith(b"\n"))
            logs = memories(records(whole, [VerifierKey.parse(vkey)]))
        for origin, memory in logs.items():
            self.stdout.write("\n".join(_words(origin, memory)))


def _words(origin: str, memory: Memory) -> Iterator[str]:
    if memory.latest is not None:
        checkpoint, moment = memory.latest.checkpoint, datetime.fromtimestamp(memory.latest.seconds, UTC)
        yield f"{origin}: {checkpoint.size:,} leaves at {moment:%Y-%m-%d %H:%M:%S} UTC, root {checkpoint.root.hex()}"
    if memory.leaf is not None:
        yield f"  the books at {memory.leaf.moment:%Y-%m-%d %H:%M:%S} UTC:"
        yield from (f"  {name}: entry {seq}, {digest}" for name, (seq, digest) in sorted(memory.heads.items()))
        yield f"  sealed last: day {memory.leaf.sealed[0]}" if memory.leaf.sealed else "  no day was sealed"
    for size, root in sorted(memory.conflicts):
        yield f"  IN CONFLICT: the log also signed {size:,} leaves with the root {root.hex()}"
