"""Alerts that leave the site: by email and by webhooks."""

from casino.environment import switch, whole
from casino.settings.base import DEMO, env

EMAIL_HOST = env.str("EMAIL_HOST", "")
EMAIL_PORT = env("EMAIL_PORT", whole, 587)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env("EMAIL_USE_TLS", switch, not DEMO)
EMAIL_USE_SSL = env("EMAIL_USE_SSL", switch, False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", "casino@localhost")
# Webhooks require https; a demo may use plain HTTP to its own machine.
WEBHOOKS_TO_LOOPBACK = DEMO
