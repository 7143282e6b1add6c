"""``manage.py audit``: the site's key, evidence bundles for outsiders, and the verifier that they check them with."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.proof import seals
from ledger.proof.note import ED25519, BadNote, VerifierKey
from ledger.proof.seals import BadKey
from ledger.replica import Unread
from tables.audit import (
    checkpoints,
    database_restore,
    export,
    keys,
    proofs,
    sealed_note_checks,
    tree_proof,
    witness_delivery,
)
from tables.audit.export import NotYet
from tables.audit.outside import verifier, zipapp
from tables.audit.outside.testimony import Source
from tables.audit.outside.witness_file import BadFile
from tables.log.signatory import document_fault
from tables.management import dates
from tables.models import Staff
from tables.staff import signers as people


class Command(BaseCommand):
    """key, checkpoints, export, verify, verifier."""

    help = "Prove the site's days to outsiders: make the key, export a bundle, verify one, build the verifier."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        key = commands.add_parser("key", help="make the key that days are sealed with, and publish it")
        key.add_argument("--rotate", action="store_true", help="put a new key, signed by the old one, in its place")
        key.add_argument(
            "--note", action="store_true", help="write the note of sealed days next to the key, if there is none"
        )
        key.add_argument("--restored", metavar="REASON", help="an older database was put back: two people, with --by")
        key.add_argument("--by", action="append", default=[], metavar="USER", help="who stands for --restored; twice")
        key.add_argument(
            "--witness", metavar="PLACE", help="with --restored: a witness's file or address, which knows more"
        )
        key.add_argument("--lost", metavar="REASON", help="the published key is gone: make another, and say why")
        days = commands.add_parser("export", help="write the bundle of a gaming day, or of several")
        days.add_argument("--day", type=dates.day, metavar="YYYY-MM-DD")
        days.add_argument("--from", dest="first", type=dates.day, metavar="YYYY-MM-DD")
        days.add_argument("--to", dest="last", type=dates.day, metavar="YYYY-MM-DD")
        days.add_argument("--out", type=Path, metavar="FILE", help="default: audit-YYYY-MM-DD.zip")
        tree = commands.add_parser("checkpoints", help="begin the tree of the books' heads, for witnesses outside")
        tree.add_argument("origin", metavar="NAME", help="its permanent name, such as casino.example/logs")
        tree.add_argument("--reason", default="", help="why an older tree or key is left")
        tree.add_argument("--by", action="append", default=[], metavar="USER", help="who stands for that; twice")
        verifier.add_arguments(commands.add_parser("verify", help="verify a bundle, with nothing but the bundle"))
        build = commands.add_parser("verifier", help="write the verifier as one file that needs no Django")
        build.add_argument("out", type=Path, metavar="OUT.pyz")

    def handle(self, *args: Any, command: str, **options: Any) -> None:
        """Run the sub-command; what it refuses is a sentence and no traceback."""
        try:
            getattr(self, f"_{command}")(**options)
        except (BadKey, BadNote, BadFile, NotYet, OSError, Unread) as wrong:
            raise CommandError(str(wrong)) from None

    def _key(self, *, rotate: bool, lost: str | None, note: bool, restored: str | None, **options: Any) -> None:
        path = sealed_note_checks.key_file()
        if note or restored is not None:
            self._note(restored, options["by"], options["witness"])
            return
        if rotate:
            public = keys.rotate()
        elif lost is not None:
            public = keys.replace_lost(lost)
        else:
            if not path.exists():
                seals.make_key(path)
            public = keys.publish()
        self.stdout.write(f"The key in {path} is published in the house's log.")
        self.stdout.write(f"Its public half, for whoever verifies: {public}")

    def _checkpoints(self, *, origin: str, reason: str, by: list[str], **_: Any) -> None:
        """A name that no key can have is refused before any file is made."""
        VerifierKey(origin, ED25519, bytes(32))
        people_of_it = [person.signature for person in _people(by)] if by else []
        tree = checkpoints.begin(origin, reason=reason, by=people_of_it)
        self.stdout.write("The heads of all books are signed each minute. Give this key to each witness:")
        self.stdout.write(str(tree.key))

    def _note(self, restored: str | None, by: list[str], witness: str | None) -> None:
        """A note is made of a database that holds, and never of another."""
        testimony = tree_proof.read_testimony(Source(witness, witness_delivery.keys())) if witness else None
        for book in proofs.books():
            if fault := proofs.verify(book, with_note=False).fault:
                raise CommandError(f"No note is made of a log that does not hold: {fault}")
        keys.signing_key()
        signers = None if restored is None else _people(by)
        note = (
            sealed_note_checks.make()
            if restored is None or signers is None
            else sealed_note_checks.accept_restored(restored, signers)
        )
        self.stdout.write(f"Everything holds. {sealed_note_checks.note_file()} notes {note.number} sealed days.")
        if restored is not None and signers is not None:
            waiting = database_restore.declare(restored, signers[0], testimony)
            self.stdout.write(f"{len(waiting)} tables wait until a pit boss has confirmed each, at /pit/restored/.")

    def _export(self, *, day: date | None, first: date | None, last: date | None, out: Path | None, **_: Any) -> None:
        first, last = day or first, day or last
        if first is None or last is None:
            raise CommandError("Name the gaming day with --day, or the first and the last with --from and --to.")
        path = out or Path(f"audit-{first}.zip" if first == last else f"audit-{first}-to-{last}.zip")
        part = path.with_name(f"{path.name}.part")
        try:
            with part.open("wb") as file:
                export.export(first, last, file)
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
        self.stdout.write(f"Wrote {path}, {path.stat().st_size:,} bytes.")

    def _verify(
        self, *, key: str | None, roots: list[Path], terminal_root: list[str], bundle: Path, **options: Any
    ) -> None:
        witnesses = {name: options[name] for name in ("witness", "witness_key")}
        if code := verifier.report(
            bundle, key=key, roots=roots, terminal_root=terminal_root, **witnesses, say=self.stdout.write
        ):
            sys.exit(code)

    def _verifier(self, *, out: Path, **_: Any) -> None:
        self.stdout.write(f"Wrote {out}, SHA-256 {zipapp.build(out)}: python {out} BUNDLE --key PUBKEY")


def _people(by: list[str]) -> tuple[Staff, Staff]:
    """Two people who work here, by their user names and PINs."""
    signers = [people.who_signs(name) for name in by]
    if len(signers) != 2 or document_fault(signer.signature for signer in signers):
        raise CommandError("Two people stand for this: --by USER --by ANOTHER.")
    return signers[0], signers[1]
