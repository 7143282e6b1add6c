"""The index of harms is current, and no harm waits for the trials although a cheaper test could prevent it."""

import subprocess
import sys

import pytest

from tests import harms


def test_the_index_of_harms_is_current_and_complete(pytestconfig: pytest.Config) -> None:
    """Harm: a test is removed or moved to the trials, and nobody reads that its harm is now prevented late, or not."""
    items = harms.collected(pytestconfig)
    if items is None:
        command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "--harms", "check"]
        check = subprocess.run(command, capture_output=True, text=True, check=False)
        assert check.returncode == 0, check.stdout + check.stderr
    else:
        assert harms.problems_of(items) == []
