"""What a process is (demo or production, site or head office), its apps, and its language, time and files."""

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from casino.environment import Environment, choice, names, switch, time_zone

env = Environment()
BASE_DIR = Path(__file__).resolve().parents[2]

CASINO_ENV = env("CASINO_ENV", choice("demo", "production"), "production")
DEMO = CASINO_ENV == "demo"
# A site deals; a head office receives the sealed days of sites, and does not deal.
CASINO_ROLE = env("CASINO_ROLE", choice("house", "head_office"), "house")
HEAD_OFFICE = CASINO_ROLE == "head_office"
# Parts that a site may do without. Nothing of a part that is off is imported: it has no page, no task and no schedule.
# The analysis of card counting, of penetration and of disputed moments (tables/maths/advantage), and audits of shoes.
ADVANTAGE_ANALYSIS = env("ADVANTAGE_ANALYSIS", switch, True)
# The app of a head office (casino/office). Without it `migrate` leaves its tables as they are, or absent.
HEAD_OFFICE_APP = env("HEAD_OFFICE_APP", switch, True)
if HEAD_OFFICE and not HEAD_OFFICE_APP:
    raise ImproperlyConfigured("HEAD_OFFICE_APP is off: CASINO_ROLE may only be house without it")
DEBUG = env("DEBUG", switch, False)
# Set by casino/asgi.py: only a web process has pools of connections.
WEB_PROCESS = env("CASINO_WEB_PROCESS", switch, False)
SECRET_KEY = env.str("SECRET_KEY", "")  # Django refuses to work with an empty one
SECRET_KEY_FALLBACKS: list[str] = env("SECRET_KEY_FALLBACKS", names, [])
ALLOWED_HOSTS = env("ALLOWED_HOSTS", names, ["localhost", "127.0.0.1", "[::1]"] if DEMO else [])
CSRF_TRUSTED_ORIGINS: list[str] = env("CSRF_TRUSTED_ORIGINS", names, [])

INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "csp",
    "django_htmx",
    "ledger",
    "tables",
    "dealer_ui",
    *(["casino.office"] if HEAD_OFFICE_APP else []),
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "casino.web.caching.no_store",
    "casino.web.access_identity.identify",
    "casino.web.connection_pools.LaneOfRoute",
    "casino.web.content_security_policy.ContentSecurityPolicy",
    "casino.web.sessions.Sessions",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "tables.staff.sign_in.TerminalSession",
    "casino.web.connection_pools.LaneOfPerson",
    "django.contrib.messages.middleware.MessageMiddleware",
    "tables.staff.required_actions.PendingRequirement",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "tables.reports.site_clock.HouseClock",
    "dealer_ui.form_addresses.form_addresses",
    "dealer_ui.stale_forms.signed_out",
    "dealer_ui.outages.Outages",
]

ROOT_URLCONF = "casino.office.site_urls" if HEAD_OFFICE else "casino.urls"
ASGI_APPLICATION = "casino.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "casino" / "templates"],  # the frame of the administration, before unfold's own
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Former settings that are policies now (tables/setup/policies.py): doctor reports those that are still set.
_FORMER = """DISCREPANCY_LEVELS_CENTS DISPUTE_REPORTABLE_CENTS CERTIFICATE_ROUNDS CERTIFICATE_PASS_PERCENT
    CERTIFICATE_DAYS CERTIFICATE_GAMES PIN_DIGITS_MIN LOCKOUT_MINUTES LOCKOUT_FAILURES TERMINAL_WRONG_PINS
    WRONG_PINS_A_DAY"""
SET_IN_VAIN = [name for name in _FORMER.split() if name in env]

LANGUAGE_CODE = "en"
TIME_ZONE = env("TIME_ZONE", time_zone, "UTC")
USE_TZ = True
FORMAT_MODULE_PATH = "casino.formats"

STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", str(BASE_DIR / "static")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "casino.web.static_files.Files"},
}
