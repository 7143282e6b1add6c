"""`python -m tests.tables.log.record_kind_answers`: record in `kind_answers.json` what the code answers now."""

import os
import sys
from pathlib import Path
from typing import Final

import pytest

WRITES: Final = "RECORD_KIND_ANSWERS"
"""The environment variable with which the test writes the file before it compares it."""

if __name__ == "__main__":
    os.environ[WRITES] = "1"
    sys.exit(pytest.main(["-q", str(Path(__file__).with_name("test_kind_answers.py"))]))
