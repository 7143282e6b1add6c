"""Run in a house of its own: a table with its shoe ready and a dealer signed in; prints how to reach it."""

import json

import django

django.setup()

from tests import floor  # noqa: E402


def main() -> None:
    dealer, _ = floor.dealt(options={"decks": 8})
    client = floor.client(dealer.by)
    cookies = client.cookies.output(attrs=[], header="", sep=";").strip()
    print(json.dumps({"table": dealer.table.pk, "cookies": cookies}))


if __name__ == "__main__":
    main()
