"""The application that every web process serves (casino/web.py)."""

import os

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from casino import celery, web  # noqa: F401 -- tasks that a page asks for go to our broker
from casino.gate import Gate
from casino.handler import Handler

web.die_with_supervisor()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
os.environ.setdefault("DATABASE_POOL", str(web.connections()))

if not settings.SECRET_KEY:
    raise ImproperlyConfigured("SECRET_KEY is not set")
django.setup(set_prefix=False)
application = Gate(Handler())
