"""Print a link that makes the device on which it is opened first a terminal, where dealers sign in by badge and PIN."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tables.models import Staff, Table, Terminal
from tables.refusals import Refused
from tables.staff import terminals


class Command(BaseCommand):
    """``manage.py enrol_terminal "Rocket 1 tablet" --by omar --address https://casino.example/``"""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the terminal's name; one that is enrolled already moves to the new device")
        parser.add_argument("--table", help="the only table that may be dealt from it")
        parser.add_argument("--by", required=True, help="user name of the operator who hands the link out")
        parser.add_argument(
            "--address", default="", help="address of the site for the link, such as https://casino.example/"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the terminal if there is none of this name, and print its link."""
        by = Staff.objects.find_active(username=options["by"])
        if by is None:
            raise CommandError(f"Nobody active here is called {options['by']}.")
        table = Table.objects.filter(name=options["table"]).first()
        if options["table"] and table is None:
            raise CommandError(f"There is no table {options['table']}.")
        try:
            terminal = Terminal.objects.filter(name=options["name"]).first()
            if terminal is None:
                terminal = terminals.add(options["name"], table, by=by)
            elif table is not None:
                terminals.bind(terminal, table, by=by)
            path = terminals.link_for(terminal, by=by)
        except Refused as refused:
            raise CommandError(refused.sentence) from None
        self.stdout.write(f"{options['address'].rstrip('/')}{path}")
