"""`python -m tests.advisories`: known vulnerabilities of all pinned packages, by the OSV database.

Where the database does not answer it exits with `NOT_CHECKED`, which `./run test` accepts, for tests must run without a
network, and `./run test release` does not.
"""

import subprocess
import sys
from typing import Final

NOT_CHECKED: Final = 77
"""The exit code of a test that could not be run, as Automake has it."""
SOURCE: Final = "https://api.osv.dev/"
PROBE: Final = f"""
import urllib.error, urllib.request
try:
    urllib.request.urlopen({SOURCE!r}, timeout=4).close()
except urllib.error.HTTPError:
    pass  # it is there, and has no page at this address
"""
AUDIT: Final = ["-m", "pip_audit", "--vulnerability-service", "osv", "--disable-pip", "--require-hashes"]
REQUIREMENTS: Final = [f"requirements/{name}.txt" for name in ("dev", "patroni", "uv")]
"""All that is installed anywhere: dev.txt contains app.txt."""


def is_reachable() -> bool:
    """Asked by a process of its own: looking a name up may take longer than any timeout of a socket."""
    try:
        probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, timeout=6, check=False)
    except subprocess.TimeoutExpired:
        return False
    return probe.returncode == 0


def are_free_of_known_vulnerabilities() -> bool:
    """Raises TimeoutExpired where the database does not answer."""
    audits = [[sys.executable, *AUDIT, "--requirement", name] for name in REQUIREMENTS]
    codes = [subprocess.run(audit, timeout=120, check=False).returncode for audit in audits]
    return not any(codes)


def main() -> int:
    if is_reachable():
        try:
            return int(not are_free_of_known_vulnerabilities())
        except subprocess.TimeoutExpired:
            pass
    print(f"{SOURCE} did not answer: dependencies NOT CHECKED for known vulnerabilities.")
    return NOT_CHECKED


if __name__ == "__main__":
    sys.exit(main())
