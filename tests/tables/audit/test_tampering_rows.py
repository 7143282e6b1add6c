"""Rows beside the log that somebody with all rights over the database changed: each is found and named by `verify`.

Nothing is in their way: triggers and foreign keys are switched off, and what they do leaves no entry.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from io import StringIO
from itertools import zip_longest
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from casino.embedded.servers import APPLICATION, SUPERUSER
from ledger import alerts, discrepancies
from ledger.models import HOUSE, Alert, Book, Notice
from ledger.site_log import append, digest_of
from ledger.site_log import flush_queue as carry_notices
from tables import pepper
from tables.audit import proofs, row_comparison, schedule_notes, watch
from tables.cage import denominations
from tables.limits import plans
from tables.log.entries.carried_rows import RowsTakenOver
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import FloorPlanDrawn, PitSectionSet
from tables.log.entries.staff import PasskeyRegistered
from tables.log.limit_plans import Always
from tables.management.commands.pepper import carry
from tables.models import Denomination, Passkey, Staff, Terminal
from tables.roles import Role
from tables.setup import floor_plans, pay_tables, pit_assignments, pits, service_accounts, table_settings
from tables.setup.pit_assignments import AssignmentChange
from tables.setup.service_accounts import Access
from tables.staff import codes, emergency, passkeys, secret_changes, service_tokens, staffing, terminals
from tables.training import certificates
from tests import floor, load
from tests.carried import alerting
from tests.clock import Clock
from tests.fixtures.database import become
from tests.floor import Hand
from tests.tables.training.test_practice import finished

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house(clock: Clock) -> Hand:
    """A house with a row of every kind, each made as the house makes it; what the watch did is noted."""
    clock.stand(timezone.now() - timedelta(minutes=10))
    dealer, boss = floor.for_pot("hawthorn", seats={1: 10_000, 2: 10_000, 3: 10_000}, source="house")
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    tess = floor.taken_on(Role.DEALER, "tess", "104", by=olga, second=boss.by)
    floor.taken_on(Role.DEALER, "timo", "105", by=olga, second=boss.by)
    codes.confirm(codes.ask(tess, "pin", by=olga).code, by=boss.by)
    codes.ask(tess, "password", by=olga)
    passkey = "c29tZXRoaW5n"
    Passkey.objects.create(
        staff=olga, name="Phone", credential=passkey, public_key="a2V5", sign_count=1, registered_at=timezone.now()
    )
    registered = PasskeyRegistered(username="olga", name="Phone", credential=digest_of(passkey), public_key="a2V5")
    append(registered, olga.signature)
    floor.player(dealer, 2)
    terminals.enrol("Tablet 1", None, by=olga)
    emergency.make(olga)
    expires = timezone.now() + timedelta(days=30)
    lounge = Access(purpose="Shows the boards", scopes=("read:board",), expires=expires)
    service_tokens.make(service_accounts.set_account("Lounge", lounge, by=olga), by=olga)
    denominations.add_denomination(value_cents=100_000, colour="orange", face="#e67e22", by=olga)
    table_settings.change_table(dealer.table, {"max_cents": 200_000}, by=olga)
    pay_tables.make("casino_war", "Tie", {"tie": {"tie": "11:1"}}, by=olga)
    certificates.certify(finished(Staff.objects.get(username="tess")), by=boss.by)
    pits.set_section(PitSectionSet(pit="Pit 1", tables=(dealer.table.name,)), by=olga)
    floor_plans.draw(FloorPlanDrawn(pit="Pit 1", spots={dealer.table.name: (3, 4)}), basis_seq=0, by=olga)
    pit_assignments.set_post(AssignmentChange("bella", ("Pit 1",)), by=olga)
    weekend = LimitPlanSet(
        name="Weekend",
        version=0,
        scope="table",
        of=dealer.table.name,
        schedule=Always(),
        values={"max_cents": 200_000},
        effective="",
    )
    plans.set_plan(weekend, expected_version=0, by=olga)
    alert = alerts.raise_alert(dealer.table.book, "negative", "The rack holds less than nothing", {"cents": -5})
    alerts.acknowledge(alert, boss.by.signature, "it was counted again")
    alerting.dead_letter(olga, boss.by)
    off = discrepancies.open_(
        dealer.table.book, "variance", 500, "The rack is over by 5.00", key="x", involved=["dora"]
    )
    discrepancies.assign(off, "bella", "Bella", by=boss.by.signature)
    discrepancies.close(off, "A chip lay under the tray", username="bella", by=boss.by.signature)
    assert watch.watch()
    clock.right()
    assert schedule_notes.note()
    assert verified() == ""
    return dealer


class Intruder:
    """Somebody who owns the database server. Every statement must change something, or a test would prove nothing."""

    def __call__(self, sql: str, *values: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            assert cursor.rowcount != 0, "the intruder changed nothing"


@contextmanager
def at_work() -> Iterator[Intruder]:
    """In one transaction, which the test sees and which is undone afterwards."""
    become(SUPERUSER)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield Intruder()
        transaction.set_rollback(True)
    become(APPLICATION)


def verified() -> str:
    """What `manage.py verify` says that does not hold; empty where all of it holds, and then it ends well."""
    output = StringIO()
    with suppress(SystemExit):
        call_command("verify", stdout=output, no_color=True)
    if "DOES NOT HOLD" in output.getvalue():
        return output.getvalue()
    assert "rows of 37 kinds are what it says" in output.getvalue()
    return ""


def faults() -> str:
    """All faults of every log, of the rows derived from it and of the shape of the database."""
    of_books = [str(proofs.verify(book).fault) for book in Book.objects.all()]
    return "\n".join([*of_books, *row_comparison.compare().faults, *row_comparison.shape_faults()])


PIN = "(SELECT pin FROM tables_staff WHERE username = 'dora')"

TAMPERINGS: dict[str, tuple[str, str]] = {
    "a dealer becomes a pit boss": (
        "UPDATE tables_staff SET role = 'pit_boss' WHERE username = 'dora'",
        "staff dora: the log says role dealer; the row says role pit_boss",
    ),
    "another PIN for the pit boss, of which the intruder knows the digits": (
        f"UPDATE tables_staff SET pin = {PIN} WHERE username = 'bella'",
        "staff bella: the log says pin ",
    ),
    "a PIN made younger, so that it does not expire": (
        "UPDATE tables_staff SET pin_made_at = pin_made_at + interval '80 days' WHERE username = 'timo'",
        "staff timo: the log says pin_made_at ",
    ),
    "a password made younger": (
        "UPDATE tables_staff SET password_made_at = password_made_at + interval '1 second' WHERE username = 'tess'",
        "staff tess: the log says password_made_at ",
    ),
    "another password for the operator": (
        "UPDATE tables_staff SET password = 'argon2$forged' WHERE username = 'olga'",
        "staff olga: the log says password ",
    ),
    "a person that no entry knows, who signs a fill": (
        "INSERT INTO tables_staff (username, name, role, password, pin, is_active)"
        " VALUES ('mal', 'Mal Lory', 'pit_boss', '', '', true)",
        "staff mal: there is a row, and the log says nothing of it",
    ),
    "somebody renamed, with another's badge, who works here no more": (
        "UPDATE tables_staff SET name = 'Dora Dean', badge = '999', is_active = false WHERE username = 'dora'",
        "staff dora: the log says is_active True, name Dora, badge 101; the row says is_active False, name Dora Dean",
    ),
    "an operator's emergency code that the intruder can type": (
        "UPDATE tables_emergencycode SET digest = repeat('0', 64)",
        "emergency code of olga: the log says code ",
    ),
    "a code of two people that one of them wrote": (
        "UPDATE tables_onetimecode SET second = first WHERE secret = 'pin'",
        "code for tess pin: the log says ",
    ),
    "a code that nobody confirmed is confirmed": (
        "UPDATE tables_onetimecode SET confirmed_by_id = asked_by_id, second = first WHERE secret = 'password'",
        "code for tess password: the log says ",
    ),
    "a reset that bars nobody any more": (
        "DELETE FROM tables_secretversion WHERE kept = ''",
        "secret of tess pin of entry ",
    ),
    "a passkey's public key is the intruder's": (
        "UPDATE tables_passkey SET public_key = 'b3RoZXI'",
        "passkey ",
    ),
    "a withdrawn passkey opens again": (
        "UPDATE tables_passkey SET is_active = NOT is_active",
        "passkey ",
    ),
    "a plan that lets players bet more": (
        "UPDATE tables_limitplan SET values = '{\"max_cents\": 900000}'",
        "limit plan 1: the log says values {'max_cents': 200000}; the row says values {'max_cents': 900000}",
    ),
    "a table put into another pit": (
        "UPDATE tables_pitsection SET pit = 'Pit 2'",
        "section of a pit 1: the log says pit Pit 1; the row says pit Pit 2",
    ),
    "a table moved on the plan": (
        "UPDATE tables_floorplan SET pit = 'Pit 2'",
        "plan of a pit 1: the log says pit Pit 1; the row says pit Pit 2",
    ),
    "a pit boss gets another pit": (
        """UPDATE tables_post SET pits = '["Pit 2"]'""",
        "post 1: the log says pits ['Pit 1']; the row says pits ['Pit 2']",
    ),
    "a cover of the intruder's own": (
        "INSERT INTO tables_pitcover (seq, username, pit, until, reason, by, at)"
        " VALUES (0, 'bella', 'Pit 2', '2030-01-01', 'x', 'bella Bella', now())",
        "a row of pit that is covered names it, and it is no such entry",
    ),
    "a maximum bet raised": (
        "UPDATE tables_table SET max_cents = 99999900",
        "table Hawthorn: the log says max_cents 200000; the row says max_cents 99999900",
    ),
    "the options of a game changed": (
        "UPDATE tables_table SET options = '{\"decks\": 7}'",
        "table Hawthorn: the log says options ",
    ),
    "a table's chips changed": (
        "DELETE FROM tables_table_denominations WHERE denomination_id ="
        " (SELECT id FROM tables_denomination WHERE colour = 'red')",
        "table Hawthorn: the log says denominations [100, 500, 2500, 10000]; the row says denominations [100, 2500",
    ),
    "a chip worth more": (
        "UPDATE tables_denomination SET value_cents = 200000 WHERE colour = 'orange'",
        "chip 100000 cents: the log has it, and there is no row",
    ),
    "a chip drawn as another": (
        "UPDATE tables_denomination SET colour = 'ivory' WHERE colour = 'white'",
        "chip 100 cents: the log says colour white; the row says colour ivory",
    ),
    "a program that may do more": (
        """UPDATE tables_serviceaccount SET scopes = '["read:board", "read:alerts"]'""",
        "program Lounge: the log says scopes ['read:board']; the row says scopes ['read:board', 'read:alerts']",
    ),
    "a token of the intruder's own": (
        "UPDATE tables_servicetoken SET kept = 'x'",
        "token of a program ",
    ),
    "a terminal that another device takes over": (
        "UPDATE tables_terminal SET token_digest = repeat('0', 64) WHERE name = 'Tablet 1'",
        "terminal Tablet 1: the log says device ",
    ),
    "another address for a seat's page": (
        "UPDATE tables_seatpage SET token_digest = repeat('0', 64)",
        "page of Hawthorn, seat 2: the log says page ",
    ),
    "a certificate for somebody who never practised": (
        "WITH another AS (INSERT INTO tables_practice (dealer_id, course, at) SELECT dealer_id, course, at FROM"
        " tables_practice RETURNING id) INSERT INTO tables_certificate (number, seq, practice_id, dealer_id, game,"
        " rules_version, answers_right,"
        " answers_asked, signed_by_id, signed_as, on_day, valid_through, at) SELECT 2, 1, another.id, signed_by_id,"
        " game, rules_version, 9, 9, dealer_id, signed_as, on_day, valid_through, at FROM tables_certificate, another",
        "certificate 2: there is a row, and the log says nothing of it",
    ),
    "a pay table that pays more": (
        'UPDATE tables_paytable SET wagers = \'{"tie": {"tie": "15:1"}}\'',
        "pay table casino_war Tie version 1: the log says wagers {'tie': {'tie': '11:1'}}; the row says wagers {'tie'",
    ),
    "a pay table in another operator's name": (
        "UPDATE tables_paytable SET by = 'omar Omar'",
        "pay table casino_war Tie version 1: the log says by 301 Olga; the row says by omar Omar",
    ),
    "a dead letter that a pit boss sent again, by another name": (
        "UPDATE tables_resending SET by = '301 Olga'",
        "the dead letters of Desk, as they are kept beside the log, are others",
    ),
    "a former secret that signs for ever": (
        "UPDATE tables_alertchannel SET former_until = '2100-01-01' WHERE former_until IS NOT NULL",
        "the channel Desk, as it is kept beside the log, is another",
    ),
    "an alert deleted": (
        "DELETE FROM ledger_alert WHERE kind = 'negative'",
        ": the log has it, and there is no row",
    ),
    "an alert that says something else": (
        "UPDATE ledger_alert SET message = 'Nothing' WHERE kind = 'negative'",
        "the log says message The rack holds less than nothing; the row says message Nothing",
    ),
    "the evidence of an alert changed": (
        "UPDATE ledger_alert SET evidence = '{\"cents\": 5}' WHERE kind = 'negative'",
        ": the log says evidence_sha256 ",
    ),
    "an alert acknowledged in somebody's name": (
        "UPDATE ledger_acknowledgement SET by = '101 Dora'",
        "the log says by bella Bella; the row says by 101 Dora",
    ),
    "an acknowledgement of what nobody looked at": (
        "INSERT INTO ledger_acknowledgement (alert_id, by, at, note) VALUES (0, '201 Bella', now(), '')",
        ": there is a row, and the log says nothing of it",
    ),
    "a discrepancy made small": (
        "UPDATE ledger_discrepancy SET amount_cents = 1",
        "the log says amount_cents 500; the row says amount_cents 1",
    ),
    "a discrepancy that somebody else looked into": (
        "UPDATE ledger_assignment SET owner = 'dora', name = 'Dora'",
        "the row says name Dora, username dora",
    ),
    "a finding by somebody who had part in it": (
        "UPDATE ledger_finding SET username = 'dora', text = 'Nothing'",
        "the log says text A chip lay under the tray, username bella; the row says text Nothing, username dora",
    ),
    "runs of the watch deleted": (
        "DELETE FROM ledger_run",
        "the rows say count 0",
    ),
    "a run that found something found nothing": (
        "UPDATE ledger_runend SET found = found + 1",
        "ends of runs 1 to ",
    ),
    "all recounts deleted": (
        "DELETE FROM ledger_recount",
        "recounts 1 to ",
    ),
    "a proof that proved more": (
        "UPDATE tables_verification SET rounds = rounds + 7",
        "proofs 1 to ",
    ),
    "the commitment of a house shoe changed": (
        "UPDATE tables_houseshoe SET commitment = repeat('0', 64)",
        "an order of a house shoe is kept that no entry commits to",
    ),
    "the order of a house shoe changed, cards to come included": (
        "UPDATE tables_houseshoe SET \"order\" = set_byte(\"order\", 54, 5), nonce = decode(repeat('00', 32), 'hex')",
        "the order that is kept is not the one that it commits to",
    ),
    "the order of a house shoe deleted": (
        "DELETE FROM tables_houseshoe",
        "the order that it commits to was not kept",
    ),
    "a trigger dropped": (
        "DROP TRIGGER ledger_notice_written ON ledger_notice",
        "the trigger ledger_notice_written of ledger_notice is missing",
    ),
}


def batches() -> Iterator[list[str]]:
    """Batches of tamperings to make together: one tampering per database table."""
    by_table: dict[str, list[str]] = defaultdict(list)
    for tampering, (sql, _) in TAMPERINGS.items():
        by_table[re.findall(r"(?:ledger|tables)_[a-z]+", sql)[0]].append(tampering)
    for batch in zip_longest(*by_table.values()):
        yield [tampering for tampering in batch if tampering]


def not_named(tamperings: list[str], report: Callable[[], str]) -> list[str]:
    """The tamperings, made together, that a report does not name. A proof names only the first fault of a log."""
    with at_work() as intruder:
        for tampering in tamperings:
            intruder(TAMPERINGS[tampering][0])
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = origin")
        sentences = report()
    return [tampering for tampering in tamperings if TAMPERINGS[tampering][1] not in sentences]


def test_every_tampering_is_found_and_named(house: Hand) -> None:
    """Harm: rows that the site relies on are changed behind the log, and the log is verified without a fault; or only
    the operator who runs a command learns of it, and no alert is raised."""
    unnamed = [tampering for batch in batches() for tampering in not_named(batch, faults)]
    assert len(unnamed) <= 3, unnamed
    assert [
        tampering for tampering in [*unnamed, "a dealer becomes a pit boss"] if not_named([tampering], verified)
    ] == []
    assert verified() == "", "each was undone"
    with at_work() as intruder:
        intruder("UPDATE tables_staff SET role = 'pit_boss' WHERE username = 'dora'")
        intruder("SET LOCAL session_replication_role = origin")
        assert watch.prove_rows() == 1
        message = Alert.objects.get(kind="row_differs").message
        assert message.endswith("staff dora: the log says role dealer; the row says role pit_boss")


def test_all_names_every_fault_and_counts_them(house: Hand) -> None:
    """Harm: one forged row hides twenty others, because `verify` and the nightly alert name the first one only."""
    together = (
        "a cover of the intruder's own",
        "a dealer becomes a pit boss",
        "a maximum bet raised",
        "an alert deleted",
        "a trigger dropped",
    )
    with at_work() as intruder:
        for tampering in together:
            intruder(TAMPERINGS[tampering][0])
        intruder("UPDATE ledger_logentry SET by = 'x' WHERE book_id = %s AND seq = 2", house.table.book_id)
        intruder(
            "INSERT INTO ledger_acknowledgement (alert_id, by, at, note)"
            " SELECT -number, '201 Bella', now(), '' FROM generate_series(1, 25) AS number"
        )
        intruder("SET LOCAL session_replication_role = origin")
        output = StringIO()
        with pytest.raises(SystemExit) as ended:
            call_command("verify", "--all", stdout=output, no_color=True)
        *lines, last = output.getvalue().splitlines()
        named = [line for line in lines if line.startswith("DOES NOT HOLD")]
        assert (ended.value.code, last) == (1, f"{len(named)} faults")
        assert [tampering for tampering in together if TAMPERINGS[tampering][1] not in output.getvalue()] == []
        assert any("Hawthorn, entry 2:" in line for line in named)
        assert len([line for line in named if "acknowledgement " in line]) == 25
        rows = watch.prove_rows()
        assert rows >= 29
        message = Alert.objects.get(kind="row_differs").message
        assert f" {rows} faults: staff dora: the log says role dealer" in message
        assert f"; and {rows - 3} more" in message
        assert watch.prove_all() == 2
        assert Alert.objects.filter(kind="log_broken", book=house.table.book).count() == 1


# --- what the house does itself ----------------------------------------------------------------------------------


def test_permitted_changes_are_no_difference(house: Hand) -> None:
    """Harm: a proof finds faults in honest work, such as a new key of the site or a hash that is sealed with it, and is
    switched off within a week."""
    olga, tess = Staff.objects.get(username="olga"), Staff.objects.get(username="tess")
    staffing.change_staff(tess, {"role": Role.PIT_BOSS, "name": "Tess T."}, by=olga)  # her PIN goes with the role
    boss, pin, terminal = Staff.objects.get(username="bella"), "741963", Terminal.objects.get(name="Tablet 1")
    code = codes.ask(tess, "pin", by=olga)
    halves = (code.first, codes.confirm(code.code, by=boss).second)
    secret_changes.make_pin(terminal, "104", halves, pin, pin)
    staffing.change_staff(tess, {"is_active": False}, by=olga)
    secret_changes.change_password(olga, new="another password of some length")
    passkeys.withdraw(Passkey.objects.get(), by=olga)
    olga = staffing.change_staff(olga, {"badge": None}, by=olga)
    omar = Staff.objects.create_superuser("omar", "a password of some length", name="Omar")
    half, other_half = emergency.make(omar), emergency.make(olga)
    emergency.use(half, other_half, address=None)
    emergency.make(omar)
    staffing.change_staff(omar, {"role": Role.AUDITOR}, by=olga)
    codes.ask(omar, "password", by=olga)
    tablet = Terminal.objects.get(name="Tablet 1")
    terminals.bind(tablet, house.table, by=olga)
    terminals.revoke(tablet, by=olga)
    spare = terminals.add("Spare", house.table, by=olga)
    assert verified() == ""
    terminals.enrol_by_link(terminals.link_for(spare, by=olga).rstrip("/").rsplit("/", 1)[1])
    chip = Denomination.objects.get(colour="orange")
    denominations.change_denomination(chip, {"face": "#d35400"}, by=olga)
    floor.player(house, 3)
    floor.player(house, 3)
    house("cash_out", seat=2)
    assert verified() == ""
    pepper.add_key()
    assert Staff.objects.get(username="dora").check_pin(floor.PIN), "this check seals her hash with the new key"
    assert verified() == ""
    assert carry() > 5
    assert verified() == ""


def test_queued_alerts_are_no_difference(house: Hand, superuser_connection: psycopg.Connection) -> None:
    """Harm: an alert that was raised while the log of the site was locked is called forged until it is written; or an
    intruder breaks that log, and no alert about it can be raised."""
    load.hold(HOUSE, superuser_connection)
    alerts.raise_alert(None, "test", "Somebody holds the house's book")
    assert Notice.objects.filter(seq=None).count() == 1
    assert row_comparison.compare().faults == []
    superuser_connection.execute("ROLLBACK")
    assert carry_notices() == 1
    assert verified() == ""
    with at_work() as intruder:
        intruder("UPDATE ledger_book SET head_hash = decode(repeat('00', 32), 'hex') WHERE name = %s", HOUSE)
        intruder("SET LOCAL session_replication_role = origin")
        alerts.raise_alert(None, "broken", "The house's book is broken")
        assert Alert.objects.filter(kind="broken").exists()
        assert Notice.objects.filter(seq=None, subject="alert").count() == 1


def test_a_second_taking_over_makes_nothing_right(hands: tuple[Hand, Hand]) -> None:
    """Harm: whoever forged a row runs the upgrade's step again, and the forged row is what was always so."""
    forged = {"name": "Mal Lory", "role": "pit_boss", "badge": None, "is_active": True, "password": "", "pin": ""}
    with transaction.atomic():
        append(RowsTakenOver(rows="chips", kept={"7 cents": {}}), "the house")
        append(RowsTakenOver(rows="staff", kept={"mal": forged}), "the house")
    assert "it takes rows over after" in verified()
