"""All settings, read from the environment. Defaults are those for production, never for convenience."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static

from casino.database_address import settings_of
from casino.environment import choice, names, number, switch, time_zone, whole
from casino.web import redaction
from casino.web.pool_sizes import REPLICA, WHOLE, pool_sizes

BASE_DIR = Path(__file__).resolve().parent.parent


CASINO_ENV = choice("CASINO_ENV", "demo", "production", default="production")
DEMO = CASINO_ENV == "demo"
# A site deals; a head office receives the sealed days of sites, and does not deal.
CASINO_ROLE = choice("CASINO_ROLE", "house", "head_office", default="house")
HEAD_OFFICE = CASINO_ROLE == "head_office"
DEBUG = switch("DEBUG")
WEB_PROCESS = switch("CASINO_WEB_PROCESS")  # set by casino/asgi.py: only a web process has pools of connections
SECRET_KEY = os.environ.get("SECRET_KEY", "")  # Django refuses to work with an empty one
SECRET_KEY_FALLBACKS = names("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = names("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]" if DEMO else "")
CSRF_TRUSTED_ORIGINS = names("CSRF_TRUSTED_ORIGINS")

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
    "casino.office",
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

# --- Database -------------------------------------------------------------------------------------------------
# Two roles: the owner migrates; everything else runs as the application's role, which may not rewrite history.


def database() -> dict[str, Any]:
    owner = choice("CASINO_DB_ROLE", "app", "owner", default="app") == "owner" and "DATABASE_OWNER_URL" in os.environ
    name = "DATABASE_OWNER_URL" if owner else "DATABASE_URL"
    if not (url := os.environ.get(name)):
        return {}  # Django's dummy database: whoever touches it is told that none is configured
    return settings_of(name, url)


DATABASES = {"default": database()}
# A standby for reading reports, lists and exports, never written to (ledger/replica.py). Empty: none.
_REPLICA_URL = os.environ.get("DATABASE_REPLICA_URL", "")
DATABASE_REPLICA = settings_of("DATABASE_REPLICA_URL", _REPLICA_URL, is_read_only=True) if _REPLICA_URL else {}
# A replica that is further behind is not read. The second setting limits the connections of all web processes to it.
REPLICA_LATEST_SECONDS = number("REPLICA_LATEST_SECONDS", 60)
REPLICA_CONNECTIONS = whole("REPLICA_CONNECTIONS", 16)
# The number of web processes that share the database, and the total of their pooled connections. Each process has one
# more for LISTEN and one for the pit's screens; a worker and a command hold one each.
WEB_PROCESSES = whole("WEB_PROCESSES", 1)
DATABASE_CONNECTIONS = whole("DATABASE_CONNECTIONS", WHOLE)
LANES = pool_sizes(
    DATABASE_CONNECTIONS // WEB_PROCESSES if WEB_PROCESS else 0,
    to_replica=max(1, REPLICA_CONNECTIONS // WEB_PROCESSES) if WEB_PROCESS else 0,
)
_HELD = sum(lane.connections for name, lane in LANES.items() if name != REPLICA)
if WEB_PROCESS and _HELD * WEB_PROCESSES > DATABASE_CONNECTIONS:
    raise ImproperlyConfigured(
        f"DATABASE_CONNECTIONS is {DATABASE_CONNECTIONS}: {WEB_PROCESSES} web processes need {6 * WEB_PROCESSES}"
    )
CASINO_DB_APP_ROLE = os.environ.get("CASINO_DB_APP_ROLE", "casino_app")  # whom deploy/grants.sql is about
DATABASE_OWNER_URL = os.environ.get("DATABASE_OWNER_URL", os.environ.get("DATABASE_URL", ""))

# The private key that seals each gaming day: a PEM file with mode 600 (`manage.py audit key`).
AUDIT_KEY_FILE = os.environ.get("AUDIT_KEY_FILE", "")
# The private key that signs the heads of all logs for outside witnesses each minute (`manage.py audit checkpoints`): a
# separate PEM file, next to the one above.
CHECKPOINT_KEY_FILE = os.environ.get("CHECKPOINT_KEY_FILE", "")
# The folder of the auditors' bundles and report lines, shared by web and worker. Empty: only commands make them.
AUDIT_FOLDER = os.environ.get("AUDIT_FOLDER", "")
# The folder of a head office for the bundles of its sites, shared by web and worker.
OFFICE_FOLDER = os.environ.get("OFFICE_FOLDER", "")
OFFICE_MOST_BYTES = whole("OFFICE_MOST_BYTES", 4 * 10**9)
# The export database for a head office that reads sealed days by replication: a PostgreSQL server with nothing else in
# it (deploy/letter-box). Empty: days go over HTTPS or on a medium.
LETTER_BOX_URL = os.environ.get("LETTER_BOX_URL", "")

# The output of `pgbackrest info --output=json` after the last backup; the backup's unit writes it, doctor reads it.
BACKUP_STATUS_FILE = os.environ.get("BACKUP_STATUS_FILE", "")
# The folder into which the drill worker (casino/drills.py) restores the last backup: empty, with room for the database.
DRILL_FOLDER = os.environ.get("DRILL_FOLDER", "")
DRILL_STANZA = os.environ.get("DRILL_STANZA", "casino")
DRILL_PROGRAMS = os.environ.get("DRILL_PROGRAMS", "")

# The keys that encrypt hashes of PINs and passwords, one per line: see tables/pepper.py and `manage.py pepper`.
PEPPER_FILE = os.environ.get("PEPPER_FILE", "")
# If the clocks of host and database differ by more than this, nothing is written. The database itself accepts entries
# up to a minute ahead of its clock.
CLOCK_DRIFT = timedelta(seconds=number("CLOCK_DRIFT_SECONDS", 5, least=1, most=60))
# After this time without entries and runs, a user must confirm the clock before another day is sealed.
CLOCK_JUMP = timedelta(hours=number("CLOCK_JUMP_HOURS", 12, most=10_000))

# --- Broker and workers (how these run: celery_settings.py) ----------------------------------------------------

REDIS_URL = os.environ.get("REDIS_URL", "")


def broker(url: str) -> str:
    """A Redis URL in kombu's syntax, which differs for a Unix socket."""
    if not url.startswith("unix://"):
        return url
    path, _, query = url.removeprefix("unix://").partition("?")
    return f"redis+socket://{path}?virtual_host={query.removeprefix('db=') or 0}"


CELERY_BROKER_URL = broker(REDIS_URL)
# Alerts must not wait for a verification, and slow receivers of events must delay neither counts nor alerts: each has a
# queue and a worker of its own. A worker without a named queue serves all.
QUEUES = ("celery", "alerts", "events")
# Not among them, because only the database's user may read the backups. A site without backups has no such worker.
DRILLS, DRILL_TASK = "drills", "casino.drills.drill"
SERVED_QUEUES = (*QUEUES, *([DRILLS] if BACKUP_STATUS_FILE else []))

# --- How alerts leave the house -------------------------------------------------------------------------------

EMAIL_HOST = os.environ.get("EMAIL_HOST", "")
EMAIL_PORT = whole("EMAIL_PORT", 587)
EMAIL_HOST_USER = os.environ.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = switch("EMAIL_USE_TLS", default=not DEMO)
EMAIL_USE_SSL = switch("EMAIL_USE_SSL")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM", "casino@localhost")
# Webhooks require https; a demo may use plain HTTP to its own machine.
WEBHOOKS_TO_LOOPBACK = DEMO

# Former settings that are policies now (tables/setup/policies.py): doctor reports those that are still set.
_ONCE_SET_HERE = """DISCREPANCY_LEVELS_CENTS DISPUTE_REPORTABLE_CENTS CERTIFICATE_ROUNDS CERTIFICATE_PASS_PERCENT
    CERTIFICATE_DAYS CERTIFICATE_GAMES PIN_DIGITS_MIN LOCKOUT_MINUTES LOCKOUT_FAILURES TERMINAL_WRONG_PINS
    WRONG_PINS_A_DAY"""
SET_IN_VAIN = [name for name in _ONCE_SET_HERE.split() if name in os.environ]

# --- Who may come in ------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "tables.Staff"
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "tables.staff.secret_hashes.Argon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
# The memory of one hash, and the number of concurrent hashes per web process; one more is reserved for anonymous
# sign-ins.
ARGON2_MEMORY_MIB = whole("ARGON2_MEMORY_MIB", 100)
HASHES_AT_ONCE = whole("HASHES_AT_ONCE", 2)
# Sign-in attempts per address and web process, except from enrolled terminals.
SIGN_INS_AT_ONCE = whole("SIGN_INS_AT_ONCE", 20)
SIGN_INS_A_MINUTE = whole("SIGN_INS_A_MINUTE", 30)
_VALIDATION = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": f"{_VALIDATION}.UserAttributeSimilarityValidator"},
    {"NAME": f"{_VALIDATION}.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": f"{_VALIDATION}.CommonPasswordValidator"},
    {"NAME": f"{_VALIDATION}.NumericPasswordValidator"},
]

# docs/signing-in.md has the remaining chances of guessing. A device on which a user signed in before counts by itself;
# unknown devices count together for each name and by address, and can never lock out a known device. The other limits
# are policies.
LOCKOUT_FAILURES_EVERYWHERE = whole("LOCKOUT_FAILURES_EVERYWHERE", 50)
LOCKOUT_FAILURES_ADDRESS = whole("LOCKOUT_FAILURES_ADDRESS", 100)

# Fingerprints of the terminals' root keys, as the casino has them on paper, separated by commas: a root that was added
# through the database alone is then a fault. Empty: `verify` lists the roots.
TERMINAL_ROOTS = [root.strip() for root in os.environ.get("TERMINAL_ROOTS", "").split(",") if root.strip()]

# Whether a dealer may take a table and deal from a browser that is not an enrolled terminal. Not for real play.
DEALING_WITHOUT_TERMINAL = switch("DEALING_WITHOUT_TERMINAL")

# A user is signed out after this time without a request. A dealer who takes a table at an enrolled terminal gets a
# longer expiry: a sign-out in the middle of a round must not happen.
SESSION_COOKIE_AGE = whole("STAFF_IDLE_SECONDS", 900)
TERMINAL_IDLE_SECONDS = whole("TERMINAL_IDLE_SECONDS", 12 * 3600)
# The absolute limit of a session; a dealer's ends once no round is open at the table.
SESSION_LIFE_SECONDS = whole("SESSION_LIFE_SECONDS", 12 * 3600)
TERMINAL_LIFE_SECONDS = whole("TERMINAL_LIFE_SECONDS", 16 * 3600)
# The lifetime of an unused enrolment link. A demo prints one for its visitors.
ENROLMENT_LINK_SECONDS = whole("ENROLMENT_LINK_SECONDS", 12 * 3600 if DEMO else 1800)
SESSION_SAVE_EVERY_REQUEST = True
SESSION_EXPIRE_AT_BROWSER_CLOSE = False
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "dealer_ui.stale_forms.refused"

# --- How much anybody may take -------------------------------------------------------------------------------

# Requests per web process: a burst, and a rate per second. Each enrolled terminal counts by itself, all other clients
# by their cookie or token and also by their address. No dealer makes twenty inputs per second.
REQUESTS_PER_CLIENT = whole("REQUESTS_PER_CLIENT", 200)
REQUESTS_PER_CLIENT_A_SECOND = whole("REQUESTS_PER_CLIENT_A_SECOND", 20)
REQUESTS_PER_ADDRESS = whole("REQUESTS_PER_ADDRESS", 1000)
REQUESTS_PER_ADDRESS_A_SECOND = whole("REQUESTS_PER_ADDRESS_A_SECOND", 100)
# Open event streams per web process. The newest of a seat or user ends their oldest; beyond the other limits new ones
# are refused. A quarter of those is reserved for staff: no number of players can lock a dealer out. An enrolled
# terminal counts as an address of its own.
STREAMS_PER_SEAT = whole("STREAMS_PER_SEAT", 4)
STREAMS_PER_PERSON = whole("STREAMS_PER_PERSON", 16)
STREAMS_PER_ADDRESS = whole("STREAMS_PER_ADDRESS", 600)
STREAMS_IN_ALL = whole("STREAMS_IN_ALL", 12000)
STREAMS_ALONE = switch("CASINO_STREAMS_ALONE")  # set by casino/web/processes.py --streams, for its own processes
# The time for a client to send a whole request, and to read its answer; and the number of connections without a whole
# request, of which the oldest is closed first.
REQUEST_SECONDS = number("REQUEST_SECONDS", 10)
READING_SECONDS = number("READING_SECONDS", 60)
CONNECTIONS_WAITING = whole("CONNECTIONS_WAITING", 500)

# --- What a browser may do ------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"

# The demo uses plain HTTP on its own machine; all other sites are behind TLS.
TLS = switch("TLS", default=not DEMO)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = TLS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = TLS
# The URL of the site for terminals, and a private authority for its certificate: `manage.py doctor` connects as they
# do.
HOUSE_ADDRESS = os.environ.get("HOUSE_ADDRESS", f"https://{next(iter(ALLOWED_HOSTS), 'localhost').lstrip('.')}")
HOUSE_CA_FILE = os.environ.get("HOUSE_CA_FILE", "")
# Behind a proxy, uvicorn reads X-Forwarded-For and -Proto itself, only from FORWARDED_ALLOW_IPS.

# --- API ------------------------------------------------------------------------------------------------------

# API requests per minute of users other than dealers; those of service accounts are a policy.
API_REQUESTS_A_MINUTE = whole("API_REQUESTS_A_MINUTE", 600)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "tables.api.schema.DeclaredSchema",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Casino tables",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": ["tables.api.schema.finish"],
}

# --- Language, time, files, log -------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
TIME_ZONE = time_zone("TIME_ZONE", "UTC")
USE_TZ = True
FORMAT_MODULE_PATH = "casino.formats"

STATIC_URL = "static/"
STATIC_ROOT = Path(os.environ.get("STATIC_ROOT", BASE_DIR / "static"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "casino.web.static_files.Files"},
}


UNFOLD = {
    "SITE_TITLE": "Casino tables",
    "SITE_HEADER": "tables.admin.pages.house_name",
    "SITE_SYMBOL": "playing_cards",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("dealer_ui/icon.svg")},
    ],
    "SHOW_HISTORY": False,  # ours is the log
    "DASHBOARD_CALLBACK": "tables.admin.front_page.dashboard",
    "SHOW_VIEW_ON_SITE": False,
    "THEME": "dark",  # as the floor is
    "STYLES": [
        lambda request: static("dealer_ui/tokens.css"),
        lambda request: static("tables/admin.css"),
    ],
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "tables.admin.navigation.navigation",
    },
    "COMMAND": {"search_callback": "tables.admin.navigation.search"},
    "COLORS": {
        "primary": {
            "50": "#fff9e8", "100": "#fff1cc", "200": "#ffe7a6", "300": "#ffdd80", "400": "#ffd66e",
            "500": "#ffcf5c", "600": "#ffcf5c", "700": "#e6b53f", "800": "#8a6a1c", "900": "#4d3b10", "950": "#241a02",
        },
        "base": {
            "50": "#fbf9f2", "100": "#f5f1e6", "200": "#e2e3da", "300": "#d3dad4", "400": "#b9c4bd",
            "500": "#8d9c94", "600": "#5a6a62", "700": "#33423c", "800": "#26332e", "900": "#151d1a", "950": "#0b100e",
        },
    },
}  # fmt: skip

redaction.install()
PLAIN = {"()": "casino.ops.log_lines.Text", "fmt": "{asctime} {levelname} {name}: {message}", "style": "{"}
# Text for people, or lines of JSON for programs.
LOG_FORMAT = choice("LOG_FORMAT", "text", "json", default="text" if DEMO else "json")
LOG_LEVEL = choice("LOG_LEVEL", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", default="INFO")
# The access log as lines of JSON: in a file of its own, which may be rotated, or in the general log.
ACCESS_LOG = os.environ.get("ACCESS_LOG", "")
ACCESS_FILE = {"class": "logging.handlers.WatchedFileHandler", "filename": ACCESS_LOG, "delay": True}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": PLAIN if LOG_FORMAT == "text" else {"()": "casino.ops.log_lines.Json"},
        "bare": {"format": "%(message)s"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "plain"},
        "access": {**(ACCESS_FILE if ACCESS_LOG else {"class": "logging.StreamHandler"}), "formatter": "bare"},
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django.server": {"handlers": ["stderr"], "propagate": False},
        "casino.access": {"handlers": ["access"], "level": "INFO", "propagate": False},
    },
}
