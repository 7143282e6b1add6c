"""`python -m tests.committed_secrets`: keys and passwords in what is tracked. Tests are full of false ones.

What is no secret though it looks like one is marked in its line: `pragma: allowlist secret`.
"""

import re
import subprocess
import sys

# Texts that hold only hashes, figures or pictures; the games and the mathematics know nothing but cards.
PASSED_OVER = re.compile(r"^(tests|requirements|tables/(games|maths))/|/migrations/|\.(json|css|svg|png|woff2)$")
SCAN = [sys.executable, "-m", "detect_secrets.pre_commit_hook", "--no-verify", "--baseline", ".secrets.baseline"]


def main() -> int:
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode:
        print("This is no checkout: nothing is tracked.")
        return 0
    files = [name for name in listed.stdout.splitlines() if not PASSED_OVER.search(name)]
    return subprocess.run([*SCAN, *files], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
