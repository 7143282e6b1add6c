"""Storage of static files, and collecting them only if one changed since the last time."""

import fcntl
import hashlib
import os
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from whitenoise.storage import CompressedManifestStaticFilesStorage


class Files(CompressedManifestStaticFilesStorage):
    """Each file under a name with its hash, including modules that a script imports."""

    support_js_module_import_aggregation = True
    # Only the project's scripts: comments in third-party scripts name files that do not exist.
    _js_module_import_aggregation_patterns = (
        "dealer_ui/*/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )
    max_post_process_passes = 10  # a module's hash is known once those that it imports have theirs


def fingerprint() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            about = Path(storage.path(name)).stat()
            digest.update(f"{storage.path(name)} {about.st_size} {about.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def collect_if_changed() -> None:
    root = Path(settings.STATIC_ROOT)
    root.parent.mkdir(parents=True, exist_ok=True)
    stamp = root.with_name(f"{root.name}.stamp")
    with stamp.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # several test runs may start at once
        file.seek(0)
        if file.read() != (digest := fingerprint()):
            call_command("collectstatic", interactive=False, verbosity=0)
            file.truncate(0)
            file.write(digest)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    django.setup()
    collect_if_changed()
