"""`python -m tests.carried.record NAME`: keep a house as this release writes it, as `tests/carried/houses/NAME`.

It deals the four days of `tests/carried/day.py` in a database of its own and writes two files: every row of it
(`NAME.jsonl.gz`, see `kept.py`) and the bundle of its days as an auditor got it (`NAME.zip`). It refuses to write a
house that lacks anything that the closed tables know, and to write over one that is there: what is kept stays as it is.
When to do this, and what is held against it ever after: docs/data-carried-over.md.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory


def main(arguments: list[str]) -> str | None:
    """Returns why nothing was kept."""
    if len(arguments) != 1 or not re.fullmatch(r"[0-9a-z][0-9a-z.-]*", arguments[0]):
        return __doc__.splitlines()[0]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    return _keep(arguments[0])


def _keep(name: str) -> str | None:
    import psycopg
    from django.core.management import call_command
    from django.db import connection
    from django.test.utils import setup_test_environment

    from casino.embedded.servers import APPLICATION, OWNER
    from casino.web.static_files import collect_if_changed
    from tests import servers
    from tests.carried import day, kept
    from tests.clock import travelling
    from tests.database import become, database_url
    from tests.tables.bundles import exported

    rows, bundle = kept.HOUSES / f"{name}.jsonl.gz", kept.HOUSES / f"{name}.zip"
    if rows.exists() or bundle.exists():
        return f"There is a house {name} already: what is kept stays as it is."
    servers.running(servers.DATABASE_SERVER)
    collect_if_changed()
    setup_test_environment()
    before = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        call_command("grants", verbosity=0)
        become(APPLICATION)
        with TemporaryDirectory() as folder, day.by_seed(Path(folder)), travelling() as clock:
            day.play(clock)
            if lacks := day.missing_here():
                return f"The house lacks: {', '.join(lacks)}"
            with psycopg.connect(database_url(OWNER)) as database:
                house = kept.take(database, Path(folder), [date.isoformat() for date in day.DAYS])
            kept.HOUSES.mkdir(exist_ok=True)
            kept.write(rows, house)
            bundle.write_bytes(exported(day.DAYS[0], day.DAYS[-1]))
    finally:
        become(OWNER)
        connection.creation.destroy_test_db(before, verbosity=0)
    for path in (rows, bundle):
        print(f"{path.stat().st_size:>10,} bytes  {path.name}")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
