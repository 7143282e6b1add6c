"""`python -m tests.cluster.floor TABLES ROUNDS`: lays out a floor in the cluster's database, and prints what the
dealers' screens need."""

from __future__ import annotations

import json
import sys


def main() -> None:
    from tests.bench.laid_floor import lay_floor

    tables, rounds = map(int, sys.argv[1:])
    places = lay_floor(tables, 0, rounds)
    print(json.dumps([{"table": place.table.pk, "cookies": place.cookies, "forms": place.forms} for place in places]))


if __name__ == "__main__":
    main()
