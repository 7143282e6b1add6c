"""What the code answers for every kind of log entry is what `kind_answers.json` recorded."""

import json
import os
from typing import Final

import pytest

from tests.tables.log import kind_answers
from tests.tables.log.kind_answers import FILE
from tests.tables.log.record_kind_answers import WRITES

HOW: Final = "if that is meant, run: python -m tests.tables.log.record_kind_answers"


@pytest.mark.django_db
def test_each_kind_of_entry_is_answered_as_recorded() -> None:
    """Harm: while the declarations of a kind are moved, one changes unnoticed: an entry is missing from the exceptions
    report or the feed, raises no alert, or is accepted in another log or from another author."""
    kind_answers.load_site()
    now = kind_answers.answers()
    if os.environ.get(WRITES):
        FILE.write_text(kind_answers.spelled(now))
    recorded = json.loads(FILE.read_text())
    assert now.keys() == recorded.keys(), f"{sorted(now.keys() ^ recorded.keys())}; {HOW}"
    now = json.loads(kind_answers.spelled(now))
    changed = [name for name in now if now[name] != recorded[name]]
    assert [now[name] for name in changed] == [recorded[name] for name in changed], f"{changed}; {HOW}"


def test_each_kind_of_entry_has_an_example() -> None:
    """Harm: a kind has no recorded answer that depends on its content, and such an answer changes unnoticed."""
    without = [kind_answers.title(name) for name in kind_answers.kinds() if not kind_answers.examples().get(name)]
    assert without == [], "make an example of each in _made of tests/tables/log/kind_answers.py"
