"""An example: a table of what was played at each seat, kept up to date from the house's feed of events.

    player_tracking.py follow  --house https://casino.example --token-file token --database play.db
    player_tracking.py receive --port 9000 --secret-file secret --database play.db

`follow` asks for what is new, by its cursor; `receive` takes signed webhooks. Either is enough, and both together do no
harm: an event changes nothing a second time, and an older one nothing that a newer one has said. What is made of events
is kept in one transaction with the cursor, so it may be killed at any moment. Standard library alone.

`follow` exits with status 1 and the problem's title and detail when the site refuses a request (any 4xx but 429). While
the site is away or busy (no answer, 429, 5xx) it tries again after longer and longer waits, `Retry-After` at least.
`--once` makes no second attempt.
"""

import argparse
import hmac
import json
import random
import sqlite3
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import closing
from hashlib import sha256
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

KINDS = "round.settled,round.reopened,round.voided,correction.moved"
PAUSE_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
WINDOW_SECONDS = 300
TABLES = """
    CREATE TABLE IF NOT EXISTS play (
        table_name TEXT, round INTEGER, seat INTEGER, staked_cents INTEGER, returned_cents INTEGER, settled_at TEXT,
        PRIMARY KEY (table_name, round, seat));
    CREATE TABLE IF NOT EXISTS correction (
        slip TEXT PRIMARY KEY, table_name TEXT, round INTEGER, seat INTEGER, difference_cents INTEGER);
    CREATE TABLE IF NOT EXISTS latest (table_name TEXT, round INTEGER, entry INTEGER, PRIMARY KEY (table_name, round));
    CREATE TABLE IF NOT EXISTS progress (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT);
"""


def opened(path: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=30, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.executescript(TABLES)
    return database


def keep(database: sqlite3.Connection, events: list[Mapping[str, Any]], cursor: str | None = None) -> None:
    """What events say, and how far the feed was read, both or neither."""
    database.execute("BEGIN IMMEDIATE")
    try:
        for event in events:
            apply(database, event)
        if cursor is not None:
            database.execute("INSERT OR REPLACE INTO progress VALUES (1, ?)", [cursor])
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise


def apply(database: sqlite3.Connection, event: Mapping[str, Any]) -> None:
    """One event; those of other types and versions are passed over."""
    if event["version"] != 1 or event["table"] is None:
        return
    table, data = event["table"]["name"], event["data"]
    if event["type"] == "correction.moved":
        if data["state"] == "signed":
            row = [data["slip"], table, data["round"], data["seat"], data["difference_cents"]]
            database.execute("INSERT OR REPLACE INTO correction VALUES (?, ?, ?, ?, ?)", row)
        return
    if event["type"] not in KINDS or not is_newer(database, table, data["round"], event["entry"]["seq"]):
        return
    database.execute("DELETE FROM play WHERE table_name = ? AND round = ?", [table, data["round"]])
    for seat in data.get("seats", ()):  # a round that was opened again, or is void, has none
        row = [table, data["round"], seat["seat"], seat["staked_cents"], seat["returned_cents"], event["at"]]
        database.execute("INSERT INTO play VALUES (?, ?, ?, ?, ?, ?)", row)


def is_newer(database: sqlite3.Connection, table: str, round_: int, entry: int) -> bool:
    """Whether nothing later was heard of a round; if so, that this was."""
    row = database.execute("SELECT entry FROM latest WHERE table_name = ? AND round = ?", [table, round_]).fetchone()
    if row is not None and row[0] >= entry:
        return False
    database.execute("INSERT OR REPLACE INTO latest VALUES (?, ?, ?)", [table, round_, entry])
    return True


# --- By cursor -------------------------------------------------------------------------------------------------


class Away(Exception):
    """The site did not answer, or was too busy. The same request may succeed after at least `wait` seconds."""

    def __init__(self, says: str, wait: float = 0.0) -> None:
        super().__init__(says)
        self.wait = wait


def follow(
    house: str, token: str, database: sqlite3.Connection, *, once: bool, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Read what is new, for ever; with `once`, up to the end of the feed. Raises SystemExit if the site refuses, and,
    with `once`, if it is away."""
    wait = PAUSE_SECONDS
    while True:
        row = database.execute("SELECT cursor FROM progress").fetchone()
        cursor = row[0] if row else ""
        try:
            page = read_page(house, token, cursor)
        except Away as away:
            if once:
                raise SystemExit(f"{house} is away: {away}") from None
            seconds = max(away.wait, wait * random.uniform(0.5, 1.0))  # noqa: S311 -- spreads many clients
            print(f"{house} is away: {away}. The next attempt is in {seconds:.1f} s.", flush=True)
            sleep(seconds)
            wait = min(2 * wait, LONGEST_WAIT_SECONDS)
            continue
        wait = PAUSE_SECONDS
        keep(database, page["events"], page["cursor"])
        if page["more"] and page["cursor"] != cursor:
            continue
        if once:
            return
        sleep(PAUSE_SECONDS)


def read_page(house: str, token: str, cursor: str) -> Any:
    """One page of the feed. Raises SystemExit if the site refuses the request, and Away if it may answer it later."""
    query = urllib.parse.urlencode({"cursor": cursor, "limit": 100, "kinds": KINDS})
    request = urllib.request.Request(f"{house}/api/events/?{query}", headers={"Authorization": f"Bearer {token}"})  # noqa: S310 -- the house that was named
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        says, seconds = problem_of(refused), refused.headers.get("Retry-After") or ""
        if refused.code != 429 and refused.code < 500:
            raise SystemExit(f"{house} refuses: {says}") from None
        raise Away(says, float(seconds) if seconds.isdecimal() else 0.0) from None
    except (OSError, HTTPException, ValueError) as lost:  # no connection, half an answer, or a proxy's page
        raise Away(str(lost) or type(lost).__name__) from None


def problem_of(refused: urllib.error.HTTPError) -> str:
    """Status, title and detail of a refusal (RFC 9457); the status line where it has no such body."""
    try:
        problem = json.load(refused)
        return f"{refused.code} {problem['title']}: {problem['detail']}"
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return f"{refused.code} {refused.reason}"


# --- By webhook ------------------------------------------------------------------------------------------------


def is_signed(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """By the house, and not from another time. While a secret is changed there are two signatures."""
    try:
        timestamp, delivery = int(headers["Casino-Timestamp"]), headers["Casino-Delivery"]
        signatures = [text.strip() for text in headers["Casino-Signature"].split(",")]
    except (KeyError, TypeError, ValueError):
        return False
    digest = hmac.new(secret.encode(), f"{timestamp}.{delivery}.".encode() + body, sha256).hexdigest()
    is_right = any(hmac.compare_digest(f"v1={digest}".encode(), text.encode()) for text in signatures)
    return is_right and abs(time.time() - timestamp) <= WINDOW_SECONDS


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 once what was sent is kept, so that whatever goes wrong before is sent again."""

    secret = database = ""

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 1_000_000))
        if not is_signed(self.secret, dict(self.headers), body):
            self.send_error(401, "not signed by the house")
            return
        with closing(opened(self.database)) as database:
            keep(database, json.loads(body).get("events", []))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """The house keeps what came of each message."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(dest="way", required=True)
    by_cursor, by_webhook = ways.add_parser("follow"), ways.add_parser("receive")
    by_cursor.add_argument("--house", required=True)
    by_cursor.add_argument("--token-file", required=True, type=Path)
    by_cursor.add_argument("--once", action="store_true")
    by_webhook.add_argument("--port", required=True, type=int)
    by_webhook.add_argument("--secret-file", required=True, type=Path)
    for way in (by_cursor, by_webhook):
        way.add_argument("--database", required=True)
    options = parser.parse_args()
    if options.way == "follow":
        with closing(opened(options.database)) as database:
            follow(options.house.rstrip("/"), options.token_file.read_text().strip(), database, once=options.once)
        return
    opened(options.database).close()
    Receiver.secret, Receiver.database = options.secret_file.read_text().strip(), options.database
    ThreadingHTTPServer(("127.0.0.1", options.port), Receiver).serve_forever()


if __name__ == "__main__":
    main()
