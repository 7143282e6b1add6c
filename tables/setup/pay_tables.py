"""Pay tables made by operators: a name, rising versions, and lines within the game's form. They are never changed.

A table is set to a pay table by name and version, and each round records the lines that it opened with. A row is
therefore verified each time it is taken into use: by its own digest, and by its entry in the site's log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from msgspec import structs

from ledger import site_log
from ledger.models import LogEntry
from tables.games import odds
from tables.games.catalog import GAMES
from tables.games.pays import PLACE, PayForm
from tables.games.protocol import Illegal
from tables.log import dual_control
from tables.log.catalog import read_as
from tables.log.entries.settings import PayTableMade
from tables.models import PayTable, Staff
from tables.projections import site_rows
from tables.refusals import Faults, Refused, refuse_faults, sentence
from tables.setup import policies
from tables.setup.dual_control import ApprovalHandler, ApprovedProposal, ProposalDraft, handles, refuse_alone


def games() -> list[str]:
    """The games with wagers that are paid by pay tables."""
    return [name for name, game in GAMES.items() if game.pay_form.wagers]


def make(
    game: str, name: str, wagers: Mapping[str, Mapping[str, str]], *, by: Staff, proposal: int | None = None
) -> PayTable:
    """Another pay table; of a name that there is, its next version. Raises Refused."""
    by.require("tables.add_paytable", "Only an operator makes pay tables.")
    with transaction.atomic():
        head = site_log.lock()  # before the last version is read, so that none is given twice
        refuse_faults("bad_pay_table", faults(game, name, wagers))
        refuse_alone("pay_table", policies.as_entered(head.moment), proposal)
        table = GAMES[game].pay_form.table_of(name, _last_version(game, name) + 1, wagers)
        event = PayTableMade(game=game, **msgspec.to_builtins(table), proposal=proposal)
        return site_rows.PAY_TABLES.append(head, event, by.signature)


def draft(game: str, name: str, wagers: Mapping[str, Mapping[str, str]]) -> ProposalDraft | None:
    """Another pay table as it is proposed, where that takes two people."""
    if not dual_control.needed("pay_table", policies.as_entered(timezone.now())):
        return None
    table = GAMES[game].pay_form.table_of(name, _last_version(game, name) + 1, wagers)
    before, after = {"version": table.version - 1}, PayTableMade(game=game, **msgspec.to_builtins(table)).content()
    return ProposalDraft("pay_table", f"{name} of {game}", before, after)


def _present_values(proposals: Sequence[ApprovedProposal]) -> list[Mapping[str, Any]]:
    rows = PayTable.objects.filter(name__in=[proposal.after["name"] for proposal in proposals])
    versions = {
        (row["game"], row["name"]): row["last"] for row in rows.values("game", "name").annotate(last=Max("version"))
    }
    return [{"version": versions.get((row.after["game"], row.after["name"]), 0)} for row in proposals]


def _apply(proposal: ApprovedProposal, by: Staff) -> None:
    # The lines of the proposal and not those of a row: what was approved is what is made.
    lines = proposal.after
    make(lines["game"], lines["name"], lines["wagers"], by=by, proposal=proposal.number)


handles("pay_table", matter=ApprovalHandler(_present_values, _apply, "tables.add_paytable"))


def faults(game: str, name: str, wagers: Mapping[str, Mapping[str, str]]) -> Faults:
    """The faults of a new pay table, by field: that of a line is "wagers.tie.tie"."""
    if game not in games():
        return {"game": f"Pay tables are made of {', '.join(games())}, not of {game}."}
    return name_faults(name) | line_faults(GAMES[game].pay_form, wagers) or _repeat_faults(game, name, wagers)


def name_faults(name: str) -> Faults:
    most = PayTable._meta.get_field("name").max_length or 0
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > most:
        return {"name": f"A pay table's name has 1 to {most} characters, and no space before or after it."}
    return {}


def line_faults(form: PayForm, wagers: Mapping[str, Mapping[str, str]]) -> Faults:
    """The faults of pay lines as typed, by field. Each line is checked separately."""
    if not wagers:
        return {"wagers": "Fill in the lines of a wager at least."}
    wrong: Faults = {}
    for wager, lines in wagers.items():
        for line in lines or {"": ""}:
            try:
                form.lines({wager: _whole(form, wager, line, lines)})
            except Illegal as illegal:
                place = str(illegal.facts["place"]).removeprefix(f"{PLACE}.")
                wrong[place] = sentence(illegal.sentence)
    return wrong


def _whole(form: PayForm, wager: str, line: str, lines: Mapping[str, str]) -> Mapping[str, str]:
    """The lines with all but one of them as they ship: so that each is judged, and not the first wrong one alone."""
    shipped = {paid.name: paid.shipped_under(GAMES[form.game].rules_type()) for paid in form.wagers}
    if wager not in shipped or lines.keys() != shipped[wager].keys():
        return lines
    return {
        name: lines[name] if name == line else shipped_odds.spelled for name, shipped_odds in shipped[wager].items()
    }


def _repeat_faults(game: str, name: str, wagers: Mapping[str, Mapping[str, str]]) -> Faults:
    form, version = GAMES[game].pay_form, _last_version(game, name)
    latest = PayTable.objects.filter(game=game, name=name, version=version).first()
    if latest is not None and latest.sha256 == form.digest(form.lines(wagers)):
        return {"wagers": f"{latest} pays just so already."}
    return {}


def _last_version(game: str, name: str) -> int:
    return PayTable.objects.filter(game=game, name=name).aggregate(last=Max("version"))["last"] or 0


# --- In use ----------------------------------------------------------------------------------------------------


def option_of(row: PayTable) -> dict[str, Any]:
    """A pay table as the option of a table that pays by it. Raises Refused where its row is not as it was made."""
    option = _spelled(row)
    if sentence := option_fault(row.game, option):
        raise Refused("bad_pay_table", sentence)
    return option


def option_fault(game: str, option: Mapping[str, Any]) -> str:
    """Why a table of a game cannot pay by this; empty if it can: such a pay table was made, with these lines."""
    form = GAMES[game].pay_form
    try:
        table = msgspec.convert(option, odds.PayTable)
        form.read(table)
    except Illegal as illegal:
        return sentence(f"{str(illegal.facts['place']).removeprefix('options.')}: {illegal.sentence}")
    except msgspec.ValidationError as error:
        return sentence(f"pays: {str(error).replace('`', '')}")
    row = PayTable.objects.filter(game=game, name=table.name, version=table.version).first()
    if row is None:
        return f"There is no pay table {table.name} version {table.version} of {GAMES[game].title}."
    body = LogEntry.objects.of_site().filter(seq=row.seq, subject=PayTableMade.subject).values_list("body")
    entered = read_as(PayTableMade, body[0][0]) if body else None
    # The row is compared with its entry before money is paid by it: a changed row must not decide a payout.
    if entered is None or as_made(entered) != PayTableMade(game=game, **msgspec.to_builtins(table)):
        return f"The lines of {row} are not those that it was made with."
    return ""


def read(row: PayTable) -> odds.PayTable:
    """A row as the games read it. Raises Illegal where it is not as it was made."""
    table = msgspec.convert(_spelled(row), odds.PayTable)
    GAMES[row.game].pay_form.read(table)
    return table


def as_made(event: PayTableMade) -> PayTableMade:
    """The pay table of an entry, without the proposal that approved it."""
    return structs.replace(event, proposal=None)


def _spelled(row: PayTable) -> dict[str, Any]:
    return {"name": row.name, "version": row.version, "wagers": row.wagers, "sha256": row.sha256}
