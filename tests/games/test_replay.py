"""``manage.py replay`` as anyone runs it: a process with files, pipes, exit codes, and one line for what is wrong."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from tests.games.goldens import goldens

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, str(ROOT / "manage.py"), "replay"]
GOLDENS = goldens("rocket")
RECORD = json.dumps(GOLDENS["round_record_document_example"]["record"])
ANSWER = GOLDENS["round_record_document_example"]["answer"]
REFUSED = GOLDENS["refuse_bet_of_5"]


def replay(*arguments: str | Path, stdin: bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *map(str, arguments)], input=stdin, capture_output=True, timeout=60, **options)


def refused(ended: subprocess.CompletedProcess[bytes]) -> str:
    """The one line of a refusal."""
    assert ended.returncode == 2
    assert ended.stdout == b""
    line, end = ended.stderr.decode().split("\n")
    assert not end
    assert "Traceback" not in line
    return line


# --- one record -----------------------------------------------------------------------------------------------


def test_a_file_is_answered(tmp_path: Path) -> None:
    """Harm: nobody can have a round judged."""
    file = tmp_path / "round.json"
    file.write_text(json.dumps(json.loads(RECORD), indent=4))
    ended = replay(file)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.count(b"\n") == 1
    assert json.loads(ended.stdout) == ANSWER


def test_an_incomplete_record_is_answered() -> None:
    """Harm: a round in progress is refused as illegal."""
    golden = GOLDENS["open_decision_is_due"]
    ended = replay("-", stdin=json.dumps(golden["record"]).encode())
    assert (ended.returncode, json.loads(ended.stdout)) == (0, golden["answer"])


def test_an_illegal_record_is_refused_in_one_line() -> None:
    """Harm: a caller that looks at the exit code takes an impossible round for a judged one."""
    assert refused(replay("-", stdin=json.dumps(REFUSED["record"]).encode())) == REFUSED["refused"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"", "record: not JSON"),
        (RECORD.encode("utf-16"), "record: not JSON"),
        (RECORD.replace('{"decks": 1}', "[" * 1_000_000).encode(), "record: nested too deeply"),
        (RECORD.replace('"decks"', '"\\u001b]0;\\n\\u0000"').encode(), "options: "),
        (RECORD.replace("rocket", "r" * 5_000_000).encode(), "game: "),
    ],
    ids=range(5),
)
def test_whatever_is_fed_in_never_ends_in_a_traceback(text: bytes, place: str) -> None:
    """Harm: a malformed record shows the inside of the program instead of what is wrong with it."""
    line = refused(replay("-", stdin=text))
    assert line.startswith(place)
    assert line.isprintable()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Harm: a mistyped file name ends in a traceback."""
    assert refused(replay(tmp_path / "none.json")) == f"{tmp_path}/none.json: No such file or directory"
    assert refused(replay(tmp_path)) == f"{tmp_path}: Is a directory"
    assert refused(replay(f"{tmp_path}/a\nb")) == f"{tmp_path}/a b: No such file or directory"


def test_a_missing_argument_is_a_mistake_of_use() -> None:
    """Harm: a script that forgot the file hangs, waiting for input."""
    ended = replay()
    assert ended.returncode == 2
    assert b"Traceback" not in ended.stderr


def test_closed_standard_input_is_named() -> None:
    """Harm: run by a service without standard input, it ends in a traceback."""
    shell = f'"{sys.executable}" "{ROOT / "manage.py"}" replay - <&-'
    ended = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, timeout=60)
    assert refused(ended) == "-: Bad file descriptor"


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    """Harm: an answer that could not be written counts as given."""
    file = tmp_path / "round.json"
    file.write_text(RECORD)
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([*COMMAND, str(file)], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert ended.returncode == 2
    assert ended.stderr.decode() == "standard output: No space left on device\n"


# --- many records ---------------------------------------------------------------------------------------------


def test_each_line_is_answered_by_a_line() -> None:
    """Harm: an answer is taken for that of another record."""
    pinned = list(GOLDENS.values())
    ended = replay("--lines", "-", stdin="\r\n".join(json.dumps(golden["record"]) for golden in pinned).encode())
    assert (ended.returncode, ended.stderr) == (0, b"")
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert answers == [golden["answer"] if "answer" in golden else {"error": golden["refused"]} for golden in pinned]


def test_lines_of_a_file_are_answered(tmp_path: Path) -> None:
    """Harm: a refused record ends the run; or a file whose last line has no end loses its last record."""
    file = tmp_path / "rounds.jsonl"
    file.write_text(f"{RECORD}\nrubbish\n\n  \r\n{json.dumps(REFUSED['record'])}\n{RECORD}")
    ended = replay(file, "--lines")
    assert (ended.returncode, ended.stderr) == (0, b"")
    answer, second, third, final_answer = map(json.loads, ended.stdout.splitlines())
    assert answer == final_answer == ANSWER
    assert second == {"error": "record: not JSON: invalid character (byte 0)"}
    assert third == {"error": REFUSED["refused"]}


def test_broken_lines_do_not_touch_their_neighbours() -> None:
    """Harm: one record of megabytes, or in another encoding, takes those around it with it."""
    long = RECORD.replace("rocket", "r" * 5_000_000)
    lines = [RECORD.encode(), long.encode(), b"\x00\xff\xfe", "{}".encode("utf-16"), RECORD.encode()]
    ended = replay("--lines", "-", stdin=b"\n".join(lines))
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [list(answer) == ["error"] for answer in answers] == [False, True, True, True, False]
    assert answers[0] == answers[-1] == ANSWER


def streaming() -> tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]:
    process = subprocess.Popen(
        [*COMMAND, "--lines", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    return process, process.stdin, process.stdout


def test_each_answer_comes_before_the_next_record_is_sent() -> None:
    """Harm: a program that feeds rounds as they are dealt waits for ever for its first answer."""
    process, records, answers = streaming()
    with process:
        for _ in range(3):
            records.write(RECORD.encode() + b"\n")
            records.flush()
            assert json.loads(answers.readline()) == ANSWER
        records.close()
        assert process.wait(60) == 0


def test_memory_does_not_grow_with_the_number_of_records() -> None:
    """Harm: a year's rounds cannot be judged in one run."""

    def peak_kilobytes(records: int) -> int:
        process, stdin, answers = streaming()
        with process:
            for _ in range(records // 100):
                stdin.write((RECORD.encode() + b"\n") * 100)
                stdin.flush()
                for _ in range(100):
                    answers.readline()
            stdin.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
            assert status == 0
        return usage.ru_maxrss

    assert peak_kilobytes(10_000) < peak_kilobytes(100) + 2_000


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    """Harm: ``replay --lines FILE | head`` ends in a traceback."""
    process, records, answers = streaming()
    with process:
        records.write(RECORD.encode() + b"\n")
        records.flush()
        assert json.loads(answers.readline()) == ANSWER
        answers.close()
        records.write(RECORD.encode() + b"\n")
        records.close()
        assert process.wait(60) == 1
        assert process.stderr is not None
        assert process.stderr.read() == b""


# --- on its own -----------------------------------------------------------------------------------------------


def test_it_starts_without_a_database_and_without_the_house() -> None:
    """Harm: judging a record starts servers, needs a configured house, or takes seconds to come up."""
    unreachable = {"DATABASE_URL": "postgresql://nobody@192.0.2.1/none", "REDIS_URL": "redis://192.0.2.1", "PATH": ""}
    traced = [sys.executable, "-X", "importtime", *COMMAND[1:], "-"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ended = subprocess.run(traced, input=RECORD.encode(), capture_output=True, timeout=60, env=unreachable)
    assert json.loads(ended.stdout) == ANSWER
    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.decode().splitlines()}
    assert "tables.games.record" in imported
    assert imported.isdisjoint({"casino.embedded.servers", "casino.settings", "psycopg", "celery", "rest_framework"})
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 1
