"""The product's settings on the tests' own servers; tests/fixtures start those when a test first needs one."""

import os

from casino.embedded import servers
from tests.processes import UNTHROTTLED
from tests.servers import BROKER, DATABASE_SERVER

KEPT_OUT = """DATABASE_URL DATABASE_OWNER_URL REDIS_URL SECRET_KEY CASINO_ENV CASINO_WEB_PROCESS
    AUDIT_KEY_FILE CHECKPOINT_KEY_FILE PEPPER_FILE"""
for name in KEPT_OUT.split():
    os.environ.pop(name, None)  # tests never touch a configured house

HOUSE = DATABASE_SERVER
HOUSE.prepare()
os.environ.update(HOUSE.environment())

# Several runs, and several workers of one run, share the servers: each has its own database and its own broker.
os.environ["REDIS_URL"] = BROKER.redis_url.replace("db=0", f"db={os.getpid() % (servers.REDIS_DATABASES - 1) + 1}")
os.environ["STATIC_ROOT"] = str(HOUSE.folder / "static")
# Every test comes from the same address; what the door and the throttle do about a crowd has tests of its own.
os.environ["SIGN_INS_AT_ONCE"] = "100000"
os.environ.update(UNTHROTTLED)
# A hash of a hundred mebibytes says no more about the house than one of eight.
os.environ.setdefault("ARGON2_MEMORY_MIB", "8")
# The owner creates and migrates the test database; tests/conftest.py then steps down to the application's role.
os.environ["CASINO_DB_ROLE"] = "owner"

from casino.settings import *  # noqa: E402, F403
from casino.settings import DATABASES  # noqa: E402

DATABASES["default"].setdefault("OPTIONS", {})["application_name"] = "tests"
DATABASES["default"]["TEST"] = {"NAME": f"test_{os.getpid()}"}

# Every test client is an application of its own: it must not read all static files anew.
WHITENOISE_AUTOREFRESH = True
