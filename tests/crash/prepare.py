"""Run in a house of its own: a table with its shoe ready and a dealer signed in; prints how to reach it."""

import json

import django

django.setup()

from django.test import Client  # noqa: E402

from tests import floor  # noqa: E402


def main() -> None:
    dealer, _ = floor.dealt(options={"decks": 8})
    client = Client()
    client.force_login(dealer.by, backend="django.contrib.auth.backends.ModelBackend")
    print(json.dumps({"table": dealer.table.pk, "session": client.cookies["sessionid"].value}))


if __name__ == "__main__":
    main()
