"""A data folder that cannot be written: one sentence with the path and what would help."""

from __future__ import annotations

import errno
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from casino.embedded import servers
from casino.embedded.servers import BASE_DIR, CannotStart, ServerSet


@pytest.fixture
def below_a_file(tmp_path: Path) -> Path:
    """A folder that not even root can make."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "local"


HELP = "Make it writable for this user, or name another folder for the data: CASINO_LOCAL=/path/to/folder."


@pytest.mark.slow("starts the demo and a management command")
def test_a_folder_that_cannot_be_made_is_one_sentence(below_a_file: Path) -> None:
    """Harm: a newcomer whose checkout belongs to another user reads a traceback in place of what would help."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment["CASINO_LOCAL"] = str(below_a_file)
    for command in (["-m", "casino.demo"], ["manage.py", "doctor"]):
        ended = subprocess.run(
            [sys.executable, *command], cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False
        )
        lines = ended.stderr.splitlines()
        assert (ended.returncode, ended.stdout, len(lines)) == (1, "", 1), ended.stderr
        assert lines[0].startswith(str(below_a_file))
        assert lines[0].endswith(f"cannot be written (Not a directory). {HELP}")


def refuses(error: int, path: Path) -> Any:
    def refused(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error), str(path))

    return refused


def test_a_folder_of_another_user_or_a_full_disk_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: files that an earlier `sudo ./run demo` left, a read-only mount or a full disk give a traceback."""
    house = ServerSet(tmp_path / "house")
    for error, name, sentence in (
        (errno.EACCES, "lock", "(Permission denied)"),
        (errno.EROFS, "lock", "(Read-only file system)"),
        (errno.ENOSPC, "wait_until_ready", "(No space left on device)"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(servers, name, refuses(error, house.users))
            with pytest.raises(CannotStart) as refusal, servers.attached(house):
                pass
        assert str(refusal.value) == f"{house.users} cannot be written {sentence}. {HELP}"
    (tmp_path / "taken").touch()
    with pytest.raises(CannotStart, match="File exists"):
        ServerSet(tmp_path / "taken").prepare()


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    """Harm: any error of the system is explained as a fault of the data folder, and its cause is lost."""
    for error, path in ((errno.EACCES, Path("/elsewhere")), (errno.ENOENT, tmp_path / "house")):
        with pytest.raises(OSError, match=os.strerror(error)), servers.writing(tmp_path):
            refuses(error, path)()
    with pytest.raises(ConnectionRefusedError), servers.writing(tmp_path):
        raise ConnectionRefusedError(errno.ECONNREFUSED, "refused")


def test_a_checkout_that_cannot_be_written_is_one_sentence(below_a_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the first command of a newcomer, before anything is installed, is a traceback."""
    loader = importlib.machinery.SourceFileLoader("entry_point", str(BASE_DIR / "run"))
    spec = importlib.util.spec_from_loader("entry_point", loader)
    assert spec is not None
    run = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(run)
    monkeypatch.setattr(run, "HERE", below_a_file)
    monkeypatch.setattr(run, "STAMP", below_a_file / "installed")
    with pytest.raises(SystemExit, match=r"file/local/\.local cannot be written \(Not a directory\)\. Use a checkout"):
        run.ensure("app")
