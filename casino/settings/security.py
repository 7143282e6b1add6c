"""Sign-in, sessions, the limits of every client, and the rules for browsers."""

from typing import Any

from csp.constants import NONE, SELF

from casino.environment import names, number, switch, whole
from casino.settings.base import ALLOWED_HOSTS, DEMO, env

# --- Sign-in and sessions -------------------------------------------------------------------------------------

AUTH_USER_MODEL = "tables.Staff"
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL
AUTHENTICATION_BACKENDS = ["tables.staff.backends.RoleBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "tables.staff.secret_hashes.Argon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
# The memory of one hash, and the number of concurrent hashes per web process; one more is reserved for anonymous
# sign-ins.
ARGON2_MEMORY_MIB = env("ARGON2_MEMORY_MIB", whole, 100)
HASHES_AT_ONCE = env("HASHES_AT_ONCE", whole, 2)
# Sign-in attempts per address and web process, except from enrolled terminals.
SIGN_INS_AT_ONCE = env("SIGN_INS_AT_ONCE", whole, 20)
SIGN_INS_A_MINUTE = env("SIGN_INS_A_MINUTE", whole, 30)
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
LOCKOUT_FAILURES_EVERYWHERE = env("LOCKOUT_FAILURES_EVERYWHERE", whole, 50)
LOCKOUT_FAILURES_ADDRESS = env("LOCKOUT_FAILURES_ADDRESS", whole, 100)

# Fingerprints of the terminals' root keys, as the casino has them on paper, separated by commas: a root that was added
# through the database alone is then a fault. Empty: `verify` lists the roots.
TERMINAL_ROOTS: list[str] = env("TERMINAL_ROOTS", names, [])

# Whether a dealer may take a table and deal from a browser that is not an enrolled terminal. Not for real play.
DEALING_WITHOUT_TERMINAL = env("DEALING_WITHOUT_TERMINAL", switch, False)

# A user is signed out after this time without a request. A dealer who takes a table at an enrolled terminal gets a
# longer expiry: a sign-out in the middle of a round must not happen.
SESSION_COOKIE_AGE = env("STAFF_IDLE_SECONDS", whole, 900)
TERMINAL_IDLE_SECONDS = env("TERMINAL_IDLE_SECONDS", whole, 12 * 3600)
# The absolute limit of a session; a dealer's ends once no round is open at the table.
SESSION_LIFE_SECONDS = env("SESSION_LIFE_SECONDS", whole, 12 * 3600)
TERMINAL_LIFE_SECONDS = env("TERMINAL_LIFE_SECONDS", whole, 16 * 3600)
# The lifetime of an unused enrolment link. A demo prints one for its visitors.
ENROLMENT_LINK_SECONDS = env("ENROLMENT_LINK_SECONDS", whole, 12 * 3600 if DEMO else 1800)
SESSION_SAVE_EVERY_REQUEST = True
SESSION_EXPIRE_AT_BROWSER_CLOSE = False
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "dealer_ui.stale_forms.refused"

# --- Limits of each client ------------------------------------------------------------------------------------

# Requests per web process: a burst, and a rate per second. Each enrolled terminal counts by itself, all other clients
# by their cookie or token and also by their address. No dealer makes twenty inputs per second.
REQUESTS_PER_CLIENT = env("REQUESTS_PER_CLIENT", whole, 200)
REQUESTS_PER_CLIENT_A_SECOND = env("REQUESTS_PER_CLIENT_A_SECOND", whole, 20)
REQUESTS_PER_ADDRESS = env("REQUESTS_PER_ADDRESS", whole, 1000)
REQUESTS_PER_ADDRESS_A_SECOND = env("REQUESTS_PER_ADDRESS_A_SECOND", whole, 100)
# Open event streams per web process. The newest of a seat or user ends their oldest; beyond the number of all, new ones
# are refused. A quarter of that is reserved for staff: no number of players can lock a dealer out. nginx limits the
# streams of an address.
STREAMS_PER_SEAT = env("STREAMS_PER_SEAT", whole, 4)
STREAMS_PER_PERSON = env("STREAMS_PER_PERSON", whole, 16)
STREAMS_IN_ALL = env("STREAMS_IN_ALL", whole, 12000)
STREAMS_ALONE = env(
    "CASINO_STREAMS_ALONE", switch, False
)  # set by casino/web/processes.py --streams, for its own processes
# A client that reads nothing of its answer for this time is cut off. The proxy limits the time to send a request.
READING_SECONDS = env("READING_SECONDS", number(), 60.0)

# --- Rules for browsers ---------------------------------------------------------------------------------------

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
TLS = env("TLS", switch, not DEMO)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = TLS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = TLS
# The URL of the site for terminals, and a private authority for its certificate: `manage.py doctor` connects as they
# do.
HOUSE_ADDRESS = env.str("HOUSE_ADDRESS", f"https://{next(iter(ALLOWED_HOSTS), 'localhost').lstrip('.')}")
HOUSE_CA_FILE = env.str("HOUSE_CA_FILE", "")
# Behind a proxy, uvicorn reads X-Forwarded-For and -Proto itself, only from FORWARDED_ALLOW_IPS.
