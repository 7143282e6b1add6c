"""The web entry point: `uvicorn casino.asgi:application`."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.exceptions import ImproperlyConfigured

from casino import celery  # noqa: F401 -- tasks that a page asks for go to our broker
from casino.gate import Gate
from casino.patience import raise_file_limit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
os.environ.setdefault("DATABASE_POOL", "16")

if not settings.SECRET_KEY:
    raise ImproperlyConfigured("SECRET_KEY is not set")
raise_file_limit()
django = get_asgi_application()

from casino.streams import Streams  # noqa: E402 -- it knows the models, which are there from here on

application = Gate(Streams(django))
