"""The recording of the demo's two weeks: it is the one that ships, belongs to this version, and loads on any day."""

import gzip
import os
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from casino.demo import recording
from casino.demo.playback import MovedText
from casino.demo.recording import Damaged, Header
from casino.embedded import servers
from tests.casino.demo.test_demo import CONFIGURED

SLIPS = [("fill", 1, "2026-01-05T06:01:00.000000Z"), ("fill", 2, "2026-01-07T18:00:00.000000Z")]


def moved(new_first: date, **own: str) -> MovedText:
    return MovedText(recording.FIRST_DAY, new_first, SLIPS, own)


def test_the_recording_belongs_to_this_version() -> None:
    """Harm: somebody changes what the demo deals, and a new demo goes on showing what was dealt before.

    If this fails, make the recording again: `python -m casino.demo.recorder` (some two minutes)."""
    text = recording.read()
    stamp = recording.stamp()
    assert recording.digest(text.encode()) == stamp.content
    assert recording.sources(Header.of(text)) == stamp.sources


def test_a_changed_byte_of_the_recording_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a damaged file becomes a history that nobody dealt."""
    packed = bytearray(recording.FILE.read_bytes())
    packed[9] ^= 1  # the system that packed it: the text stays the same
    changed = tmp_path / recording.FILE.name
    changed.write_bytes(packed)
    assert gzip.decompress(packed).decode() == recording.read()
    monkeypatch.setattr(recording, "FILE", changed)
    with pytest.raises(Damaged, match="is not the recording that ships"):
        recording.read()


def test_comments_and_docstrings_leave_the_stamp_as_it_is() -> None:
    """Harm: each change of a sentence makes everybody deal two weeks."""
    source = "def deal():\n    return 1\n"
    worded = '"""Deals."""\n\n# Cards.\ndef deal():\n    """Deal."""\n    return 1  # one\n'
    assert recording._statements(source) == recording._statements(worded)
    assert recording._statements(source) != recording._statements(source.replace("1", "2"))


@pytest.mark.django_db
def test_days_moments_and_slips_move_and_all_else_stays(settings: Any) -> None:
    """Harm: an entry tells a day of the recording, or a hash that looks like a date is changed."""
    settings.TIME_ZONE = "UTC"
    text = (
        '"at":"2026-01-06T18:30:12.345678Z" 2026-01-06 18:30:12.34+00 "day":"2026-01-05" up to 2026-01-05 14:00 UTC'
        " fill/2026/2 drop/2026/1 until 2026-01-06T06:00:00+00:00 1f2026-01-05-4a {{key}} {{hash 1 2}}"
    )
    assert moved(date(2027, 3, 1), key="ours").text(text) == (
        '"at":"2027-03-02T18:30:12.345678Z" 2027-03-02 18:30:12.34+00 "day":"2027-03-01" up to 2027-03-01 14:00 UTC'
        " fill/2027/2 drop/2026/1 until 2027-03-02T06:00:00+00:00 1f2026-01-05-4a ours {{hash 1 2}}"
    )


@pytest.mark.django_db
def test_slips_count_anew_in_a_new_year() -> None:
    """Harm: a demo that is opened in the first days of January has a gap in its numbers, and nothing of it verifies."""
    across = moved(date(2026, 12, 30))
    assert [str(name) for name in across.slips.values()] == ["fill/2026/1", "fill/2027/1"]


@pytest.mark.django_db
def test_gaming_days_stay_whole_where_clocks_change(settings: Any) -> None:
    """Harm: in the night in which clocks change, an evening falls into the day before, or a shift begins in it."""
    settings.TIME_ZONE = "Europe/Berlin"
    over_the_change = moved(date(2026, 3, 28))  # from 6:00 to 6:00 it has 23 hours
    spans = ["2026-01-05T06:00Z", "2026-01-05T22:00Z", "2026-01-06T06:00Z", "2026-01-06T17:00Z"]
    moments = [over_the_change.moment(datetime.fromisoformat(text)) for text in spans]
    assert [f"{moment:%d %H:%M}" for moment in moments] == ["28 05:00", "28 21:00", "29 04:00", "29 15:00"]


@pytest.mark.usefixtures("own_processes")
@pytest.mark.timeout(1500)
def test_the_recording_is_what_dealing_gives() -> None:
    """Harm: what ships is no house that the functions of the floor could have written."""
    command = [sys.executable, "-m", "casino.demo.recorder", "--check"]
    clean = {name: value for name, value in os.environ.items() if name not in CONFIGURED}
    dealt = subprocess.run(command, cwd=servers.BASE_DIR, env=clean, text=True, capture_output=True, check=False)
    assert dealt.returncode == 0, dealt.stdout + dealt.stderr
