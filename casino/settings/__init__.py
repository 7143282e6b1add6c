"""All settings, read from the environment, by topic. Defaults are those for production, never for convenience."""

# ruff: noqa: F403
from casino.settings.admin import *
from casino.settings.api import *
from casino.settings.audit import *
from casino.settings.base import *
from casino.settings.database import *
from casino.settings.email import *
from casino.settings.logs import *
from casino.settings.security import *
from casino.settings.workers import *
