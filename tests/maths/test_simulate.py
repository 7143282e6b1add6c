"""manage.py simulate: a run can be stopped, resumed and dealt again, on any number of cores."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command


def simulated(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("simulate", "rocket", "--seats", "1", "--fresh", *arguments, "--json", stdout=out)
    facts: dict[str, Any] = json.loads(out.getvalue())
    return facts


def test_a_run_that_was_stopped_goes_on_to_the_same_end(tmp_path: Path) -> None:
    """Harm: a night of simulation lost, or rounds counted twice."""
    run_file = str(tmp_path / "run.json")
    whole = simulated("--rounds", "3000000", "--cores", "1")
    assert simulated("--rounds", "1000000", "--resume", run_file)["rounds"] == 1_000_000
    assert simulated("--rounds", "3000000", "--cores", "2", "--resume", run_file) == whole
    assert simulated("--rounds", "3000000", "--resume", run_file) == whole
    assert abs(whole["seats"][0]["errors_off"]) < 4
    assert simulated("--rounds", "1", "--seed", "2")["seats"] != simulated("--rounds", "1")["seats"]


def test_the_file_of_another_run_is_refused(tmp_path: Path) -> None:
    """Harm: rounds of two different shoes in one average."""
    run_file = tmp_path / "run.json"
    simulated("--rounds", "1", "--resume", str(run_file))
    with pytest.raises(CommandError, match="is another run"):
        simulated("--rounds", "1", "--resume", str(run_file), "--decks", "1")
    run_file.write_text("{}")
    with pytest.raises(CommandError, match="is no run of this command"):
        simulated("--rounds", "1", "--resume", str(run_file))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--seats", "0"], "Rocket is not dealt to 0 seats"),
        (["--seats", "7"], "Rocket is not dealt to 7 seats"),
        (["--reshuffle-at", "0.9"], "A cut card at 0.9 of the shoe is not placed"),
        (["--rounds", "0"], "at least 1"),
    ],
)
def test_a_table_that_cannot_be_is_refused(arguments: list[str], sentence: str) -> None:
    """Harm: a traceback after a minute, or numbers of nothing."""
    with pytest.raises(CommandError, match=sentence):
        simulated(*arguments)


def test_the_text_tells_every_seat() -> None:
    """Harm: a report that leaves out the seat that is off."""
    out = StringIO()
    call_command("simulate", "--seats", "3", "--rounds", "1", stdout=out)
    lines = out.getvalue().splitlines()
    assert [line.split()[0] for line in lines[3:6]] == ["1", "2", "3"]
    assert "correlation of two seats 0.29" in lines[-1]
