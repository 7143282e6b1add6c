"""A new web process, and many screens that come to it at once."""

from __future__ import annotations

import subprocess
import sys

from casino.embedded.servers import BASE_DIR

AT_ONCE = """
import sys, threading
import django
django.setup()
import msgspec
from casino.web import prepared_types
prepared_types.prepare()
forms = sorted(prepared_types.structs(), key=lambda form: (form.__module__, form.__name__))
sys.setswitchinterval(1e-6)

def read(begin):
    begin.wait()
    for form in forms:
        for name in reversed(form.__struct_fields__):
            try:
                msgspec.convert({name: None}, form, str_keys=True)
            except msgspec.ValidationError:
                pass

begin = threading.Barrier(16)
threads = [threading.Thread(target=read, args=(begin,)) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(forms))
"""


def test_threads_that_read_by_a_type_for_the_first_time_do_not_end_the_process() -> None:
    """Harm: the floor comes back to a process that has just started, and it dies by a segmentation fault. Without the
    types made ready this program does so in each of ten runs."""
    reading = subprocess.run(
        [sys.executable, "-c", AT_ONCE], cwd=BASE_DIR, capture_output=True, text=True, timeout=120, check=False
    )
    assert reading.returncode == 0, reading.stderr
    assert int(reading.stdout) > 300
