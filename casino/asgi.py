"""The ASGI application of each web process (casino/web/processes.py)."""

import gc
import os

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from casino import celery  # noqa: F401 -- tasks that a page asks for go to our broker
from casino.web import processes
from casino.web.access_log import AccessLog
from casino.web.body_limits import BodyLimits
from casino.web.request_threads import Handler
from casino.web.slow_clients import raise_file_limit
from tables import pepper

processes.die_with_supervisor()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
os.environ["CASINO_WEB_PROCESS"] = "yes"

if not settings.SECRET_KEY:
    raise ImproperlyConfigured("SECRET_KEY is not set")
pepper.keys()  # fail at the start: without the keys no user could sign in
raise_file_limit()
django.setup(set_prefix=False)

from casino.web import prepared_types  # noqa: E402 -- these know the models, which are there from here on
from casino.web.streams import Streams  # noqa: E402
from casino.web.throttle import Throttle  # noqa: E402
from tables.staff import ceremonies  # noqa: E402, F401 -- what commands load late, a request must not wait for

prepared_types.prepare()
# Objects that exist by now are permanent: the garbage collector can skip them. It also runs less often than by default,
# because each run pauses a process with the states of a whole floor, possibly during a dealer's input.
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 50)
application = AccessLog(BodyLimits(Throttle(Streams(Handler()))))
