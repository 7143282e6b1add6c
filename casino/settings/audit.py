"""Keys and folders of the audit trail, backups, and the clock."""

from datetime import timedelta

from casino.environment import number, whole
from casino.settings.base import env

# The private key that seals each gaming day: a PEM file with mode 600 (`manage.py audit key`).
AUDIT_KEY_FILE = env.str("AUDIT_KEY_FILE", "")
# The private key that signs the heads of all logs for outside witnesses each minute (`manage.py audit checkpoints`): a
# separate PEM file, next to the one above.
CHECKPOINT_KEY_FILE = env.str("CHECKPOINT_KEY_FILE", "")
# The folder of the auditors' bundles and report lines, shared by web and worker. Empty: only commands make them.
AUDIT_FOLDER = env.str("AUDIT_FOLDER", "")
# The folder of a head office for the bundles of its sites, shared by web and worker.
OFFICE_FOLDER = env.str("OFFICE_FOLDER", "")
OFFICE_MOST_BYTES = env("OFFICE_MOST_BYTES", whole, 4 * 10**9)
# A setting of earlier releases, whose sites could also report by replication: check and doctor say what to do now.
LETTER_BOX_IS_SET = "LETTER_BOX_URL" in env

# The output of `pgbackrest info --output=json` after the last backup; the backup's unit writes it, doctor reads it.
BACKUP_STATUS_FILE = env.str("BACKUP_STATUS_FILE", "")
# The folder into which the drill worker (casino/drills.py) restores the last backup: empty, with room for the database.
DRILL_FOLDER = env.str("DRILL_FOLDER", "")
DRILL_STANZA = env.str("DRILL_STANZA", "casino")
DRILL_PROGRAMS = env.str("DRILL_PROGRAMS", "")

# The keys that encrypt hashes of PINs and passwords, one per line: see tables/pepper.py and `manage.py pepper`.
PEPPER_FILE = env.str("PEPPER_FILE", "")
# If the clocks of host and database differ by more than this, nothing is written. The database itself accepts entries
# up to a minute ahead of its clock.
CLOCK_DRIFT = timedelta(seconds=env("CLOCK_DRIFT_SECONDS", number(1, 60), 5.0))
# After this time without entries and runs, a user must confirm the clock before another day is sealed.
CLOCK_JUMP = timedelta(hours=env("CLOCK_JUMP_HOURS", number(most=10_000), 12.0))
