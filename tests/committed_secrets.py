"""`python -m tests.committed_secrets`: keys and passwords in what is tracked. Tests are full of false ones.

What is no secret though it looks like one is marked in its line: `pragma: allowlist secret`.
"""

import re
import subprocess
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Final

# Texts that hold only hashes, figures or pictures; the games and the mathematics know nothing but cards.
PASSED_OVER: Final = re.compile(r"^(tests|requirements|tables/(games|maths))/|/migrations/|\.(json|css|svg|png|woff2)$")
BASELINE: Final = ".secrets.baseline"
SCAN: Final = [sys.executable, "-m", "detect_secrets.pre_commit_hook", "--no-verify", "--baseline", BASELINE]
CLEAN: Final = Path(".local", "clean-of-secrets")
"""Digests of the files of the last run, which held no secret: the same text is not searched again."""


def main() -> int:
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode:
        print("This is no checkout: nothing is tracked.")
        return 0
    names = [name for name in listed.stdout.splitlines() if not PASSED_OVER.search(name) and Path(name).is_file()]
    files = {_digest(name): name for name in names}
    clean = set(CLEAN.read_text().split()) if CLEAN.exists() else set()
    searched = [name for digest, name in files.items() if digest not in clean]
    status = subprocess.run([*SCAN, *searched], check=False).returncode if searched else 0
    if status == 0:
        CLEAN.parent.mkdir(exist_ok=True)
        CLEAN.write_text("\n".join(files))
    return status


def _digest(name: str) -> str:
    """Of a file's name and text, and of what decides whether it holds a secret."""
    rules = version("detect-secrets").encode() + Path(BASELINE).read_bytes()
    return sha256(b"\0".join([rules, name.encode(), Path(name).read_bytes()])).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
