"""`python -m tests.advisories`: known holes in what the house installs, if the advisory database can be asked.

Without a network it says so in one line and passes: a house that is cut off must be able to run its tests.
"""

import subprocess
import sys

SOURCE = "https://api.osv.dev/"
PROBE = f"""
import urllib.error, urllib.request
try:
    urllib.request.urlopen({SOURCE!r}, timeout=4).close()
except urllib.error.HTTPError:
    pass  # it is there, and has no page at this address
"""
AUDIT = ["pip_audit", "--vulnerability-service", "osv", "--disable-pip", "--require-hashes"]


def reachable() -> bool:
    """A process of its own: looking a name up may hang for longer than any timeout of a socket."""
    try:
        probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, timeout=6, check=False)
    except subprocess.TimeoutExpired:
        return False
    return probe.returncode == 0


def main() -> int:
    if not reachable():
        print(f"{SOURCE} could not be asked: the dependencies were NOT held against known vulnerabilities.")
        return 0
    try:
        command = [sys.executable, "-m", *AUDIT, "--requirement", "requirements/dev.txt"]
        return subprocess.run(command, timeout=120, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"{SOURCE} did not answer in time: the dependencies were NOT held against known vulnerabilities.")
        return 0


if __name__ == "__main__":
    sys.exit(main())
