"""Verifies a log against its hash chain, its transfers against the log, and its recounts against the transfers; and
writes recounts."""

from collections.abc import Iterator

from django.utils import timezone

from ledger.cage import horizons, transfers
from ledger.log import CHUNK, entries, read_head
from ledger.models import Account, Recount
from ledger.proof.chain import Broken, Fault, Head, walk
from ledger.proof.chips import HOUSE_PLACES, money
from ledger.proof.moves import Proven, reconcile
from ledger.raw_rows import fetch_row, fetch_rows

ABOVE_ALL = b"\xff" * 33
"""Sorts after all SHA-256 hashes."""

# --- Proving --------------------------------------------------------------------------------------------------


def prove(book_id: int, *, since: int = 0) -> Iterator[Proven]:
    """All entries of a log in order, each after its chain and transfers are verified. Raises Broken at the first fault.

    ``since``: the sequence number of a recount to continue from; 0 for the start of the log. Makes one pass in constant
    memory.
    """
    head = read_head(book_id)
    # A proof from a recount trusts the head that the recount stored, so it must exist and is the anchor of the chain.
    after = _stored_head(book_id, head.name, since) if since else None
    chain = walk(entries(book_id, since, head.seq), head, after=after, anchors=anchors(book_id, since, head.seq))
    yield from reconcile(chain, transfers(book_id, since, head.seq), head.name)
    # Rows after the head are in no chain, so the walk above does not see them.
    if fault := beyond_head(book_id):
        raise Broken(fault)


def first_fault(book_id: int, *, since: int = 0) -> Fault | None:
    """The first fault of a log in its chain, transfers or recounts; None if all are verified."""
    try:
        for _ in prove(book_id, since=since):
            pass
    except Broken as broken:
        return broken.fault
    return wrong_recount(book_id)


def anchors(book_id: int, since: int, through: int) -> Iterator[tuple[int, bytes]]:
    """The (seq, hash) pairs that recounts stored, for entries after ``since`` up to ``through``, in order."""
    last: tuple[int, bytes] = (since, ABOVE_ALL)
    while True:
        page = fetch_rows(
            "SELECT DISTINCT through_seq, head_hash FROM ledger_recount WHERE book_id = %s"
            " AND through_seq BETWEEN %s AND %s AND (through_seq, head_hash) > (%s, %s)"
            " ORDER BY through_seq, head_hash LIMIT %s",
            [book_id, last[0], through, *last, CHUNK],
        )
        yield from page
        if len(page) < CHUNK:
            return
        last = page[-1]


def _stored_head(book_id: int, name: str, seq: int) -> Head:
    """The head that the recount through this entry stored. Raises LookupError if no recount ends there."""
    digest = Recount.objects.filter(book_id=book_id, through_seq=seq).values_list("head_hash", flat=True).first()
    if digest is None:
        raise LookupError(f"no recount of {name} ends at entry {seq}")
    return Head(book_id, name, seq, bytes(digest))


def beyond_head(book_id: int) -> Fault | None:
    """The first entry, transfer or recount after the log's head, read in one snapshot; None if all end there."""
    name, head_seq, seq = fetch_row(
        "SELECT b.name, b.head_seq, least("
        " (SELECT min(seq) FROM ledger_logentry WHERE book_id = b.id AND seq > b.head_seq),"
        " (SELECT min(seq) FROM ledger_transfer WHERE book_id = b.id AND seq > b.head_seq),"
        " (SELECT min(through_seq) FROM ledger_recount WHERE book_id = b.id AND through_seq > b.head_seq))"
        " FROM ledger_book AS b WHERE b.id = %s",
        [book_id],
    )
    return None if seq is None else Fault(name, seq, f"is beyond the last entry that the book knows, {head_seq}")


# Running sums and the recounts between them, by account and entry. Each recount must equal the running sum. At the last
# recount (mark 2) all accounts are compared, so that none can be left out. The recount through `since` is the start of
# the sums.
WRONG_RECOUNT = """
    WITH moved AS (
        SELECT seq, source_id, target_id, amount_cents FROM ledger_transfer
        WHERE book_id = %(book)s AND seq > %(since)s AND seq <= %(horizon)s),
    counted AS (
        SELECT account_id, through_seq AS seq, balance_cents FROM ledger_recount
        WHERE book_id = %(book)s AND through_seq >= %(since)s AND through_seq <= %(horizon)s),
    event (account_id, seq, mark, cents, said) AS (
        SELECT source_id, seq, 0, -amount_cents, NULL::bigint FROM moved
        UNION ALL SELECT target_id, seq, 0, amount_cents, NULL FROM moved
        UNION ALL SELECT account_id, seq, 0, balance_cents, NULL FROM counted WHERE seq = %(since)s
        UNION ALL SELECT account_id, seq, 1, 0, balance_cents FROM counted WHERE seq > %(since)s
        UNION ALL SELECT a.id, %(horizon)s, 2, 0, coalesce(c.balance_cents, 0)
            FROM ledger_account AS a LEFT JOIN counted AS c ON c.account_id = a.id AND c.seq = %(horizon)s
            WHERE a.book_id = %(book)s OR a.place = ANY(%(shared)s)),
    summed AS (
        SELECT *, sum(cents) OVER (PARTITION BY account_id ORDER BY seq, mark ROWS UNBOUNDED PRECEDING) AS sum
        FROM event)
    SELECT seq, account_id, said, sum FROM summed WHERE mark > 0 AND said <> sum ORDER BY seq, account_id LIMIT 1
"""


def wrong_recount(book_id: int, *, since: int = 0) -> Fault | None:
    """The first recount after ``since`` that differs from the sum of the transfers through its entry; None if none
    does."""
    horizon = horizons([book_id])[book_id]
    if horizon <= since:
        return None
    row = fetch_row(
        WRONG_RECOUNT, {"book": book_id, "since": since, "horizon": horizon, "shared": sorted(HOUSE_PLACES)}
    )
    if row is None:
        return None
    seq, account_id, recounted, summed = row
    account = Account.objects.select_related("book").get(pk=account_id)
    sentence = f"the recount through it says {money(recounted)} in {account}, the transfers make {money(int(summed))}"
    return Fault(read_head(book_id).name, seq, sentence)


# --- Recounting -----------------------------------------------------------------------------------------------


def recount(book_id: int, by: str) -> list[Recount]:
    """Add up the transfers since the last recount and write the new balance of each account that transfers ever
    touched.

    Writes nothing if no chips moved. Takes no lock: entries up to the head that was read are final, and two concurrent
    recounts write equal sums. Raises Broken if the transfers do not add up to zero.
    """
    head = read_head(book_id)
    start = horizons([book_id])[book_id]
    moved = moved_cents(book_id, start, head.seq)
    # A recount is the basis of later sums: a fault in it would become permanent.
    if sum(moved.values()) != 0:
        raise Broken(Fault(head.name, head.seq, f"the transfers since entry {start} do not add up to zero"))
    if not moved:
        return []
    counted = dict(
        Recount.objects.filter(book_id=book_id, through_seq=start).values_list("account_id", "balance_cents")
    )
    moment = timezone.now()
    rows = [
        Recount(
            book_id=book_id,
            account_id=account,
            through_seq=head.seq,
            head_hash=head.hash,
            balance_cents=counted.get(account, 0) + moved.get(account, 0),
            at=moment,
            by=by,
        )
        for account in sorted(counted.keys() | moved.keys())
    ]
    # A concurrent recount through this head wrote equal rows: its rows are kept.
    return list(Recount.objects.bulk_create(rows, ignore_conflicts=True))


def moved_cents(book_id: int, since: int, through: int) -> dict[int, int]:
    """The net change in cents of each account by the transfers of entries after ``since`` up to ``through``."""
    rows = fetch_rows(
        "SELECT leg.account_id, sum(leg.cents) FROM ledger_transfer AS t, LATERAL"
        " (VALUES (t.source_id, -t.amount_cents), (t.target_id, t.amount_cents)) AS leg (account_id, cents)"
        " WHERE t.book_id = %s AND t.seq > %s AND t.seq <= %s GROUP BY leg.account_id",
        [book_id, since, through],
    )
    return {account: int(cents) for account, cents in rows}
