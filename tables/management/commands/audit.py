"""``manage.py audit``: the house's key, bundles for outsiders, and the verifier that they check them with."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger import seals
from ledger.seals import BadKey
from tables import sealing


class Command(BaseCommand):
    """key, export, verify, verifier."""

    help = "Prove the house's days to outsiders: make the key, export a bundle, verify one, build the verifier."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command each."""
        commands = parser.add_subparsers(dest="command", required=True)
        key = commands.add_parser("key", help="make the key that days are sealed with, and publish it")
        key.add_argument("--rotate", action="store_true", help="put a new key, signed by the old one, in its place")

    def handle(self, *args: Any, command: str, **options: Any) -> None:
        """Do what was asked; a sentence instead of a traceback."""
        try:
            getattr(self, f"_{command}")(**options)
        except BadKey as wrong:
            raise CommandError(str(wrong)) from None

    def _key(self, *, rotate: bool, **options: Any) -> None:
        path = sealing.key_file()
        if rotate:
            public = sealing.rotate()
        else:
            if not path.exists():
                seals.make_key(path)
            public = sealing.publish()
        self.stdout.write(f"The key in {path} is published in the house's log.")
        self.stdout.write(f"Its public half, for whoever verifies: {public}")
