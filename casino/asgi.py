"""The web entry point: `uvicorn casino.asgi:application`."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.exceptions import ImproperlyConfigured

from casino import celery  # noqa: F401 -- tasks that a page asks for go to our broker
from casino.access import AccessLog
from casino.gate import Gate
from tables import pepper

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
os.environ["CASINO_WEB_PROCESS"] = "yes"

if not settings.SECRET_KEY:
    raise ImproperlyConfigured("SECRET_KEY is not set")
pepper.keys()  # without them nobody could sign in
django = get_asgi_application()

from casino.door import Door  # noqa: E402 -- it knows terminals, which are a model of Django's

application = AccessLog(Gate(Door(django)))
