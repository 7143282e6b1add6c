"""Finds a Chromium for the browser tests, or installs one: `python -m tests.chromium` prints its path.

The shell without windows does the same work for half of the processor's time, so it is installed where it can be; a
whole Chromium will do.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys

from casino.embedded.servers import LOCAL

SHELL = "chromium-headless-shell"
NAMES = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser", "chrome")
# Nothing that the tests do not ask for: no GPU, no sandbox for root (it has none), no talking to the world.
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    *(("--no-sandbox",) if os.geteuid() == 0 else ()),
)


class NoBrowser(RuntimeError):
    """There is no Chromium and none could be installed; the message says why."""


def find() -> str | None:
    if chosen := os.environ.get("CHROMIUM"):
        return chosen
    return find_shell() or next(filter(None, map(shutil.which, NAMES)), None) or playwrights_own()


def find_shell() -> str | None:
    return shutil.which(SHELL)


def playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


def _by_apt(package: str) -> list[list[str]]:
    # No hour of waiting where there is no way to the packages.
    apt = ["apt-get", "--quiet", "--yes", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"]
    return [[*apt, "update"], [*apt, "install", "--no-install-recommends", package]]


def install_shell() -> str | None:
    """By apt as root; None where that cannot be, or has no such package."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return None
    with contextlib.suppress(NoBrowser):
        _install([_by_apt(SHELL)])
    return find_shell()


def install() -> str:
    """By apt as root, else by Playwright's own installer."""
    ways = [[[sys.executable, "-m", "playwright", "install", "--with-deps", "chromium"]]]
    if os.geteuid() != 0:
        ways = [[[sys.executable, "-m", "playwright", "install", "chromium"]]]
    elif shutil.which("apt-get"):
        ways.insert(0, _by_apt("chromium"))
    return _install(ways)


def _install(ways: list[list[list[str]]]) -> str:
    reasons = []
    for way in ways:
        for command in way:
            print(f"Installing Chromium: {' '.join(command)}", file=sys.stderr, flush=True)
            quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
            run = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                lines = (run.stderr or run.stdout).strip().splitlines() or ["no message"]
                reasons.append(f"{command[0]} {command[-1]}: {lines[-1]}")
                break
        else:
            if path := find():
                return path
    raise NoBrowser("No Chromium was found and none could be installed. " + "; ".join(reasons))


def provide() -> None:
    """Find or install one and name it to all tests, or else why there is none; several processes may ask at once."""
    LOCAL.mkdir(exist_ok=True)
    with open(LOCAL / "chromium.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            chosen = os.environ.get("CHROMIUM") or find_shell() or install_shell()
            os.environ["CHROMIUM"] = chosen or find() or install()
        except NoBrowser as reason:
            print(reason, file=sys.stderr)
            os.environ["CASINO_BROWSER_ERROR"] = str(reason)


if __name__ == "__main__":
    try:
        print(find() or install())
    except NoBrowser as reason:
        sys.exit(str(reason))
