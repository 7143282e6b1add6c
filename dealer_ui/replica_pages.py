"""Pages and files that are read from the replica, where the house has one; each says how old it is."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from dealer_ui.guards import View
from ledger import replica
from tables.audit.downloads import AS_OF


def reads_replica(view: View) -> View:
    """For what is read and not acted upon: no query of it reaches the database that dealers write to. Who asks is known
    by then, from the primary. The page's frame shows how old it is, and a header says so."""

    @wraps(view)
    def on_replica(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with replica.reading() as as_of:
            response = view(request, *args, **kwargs)
        if as_of is not None:
            response[AS_OF] = as_of.moment.isoformat(timespec="milliseconds")
        return response

    on_replica.reads_replica = True  # type: ignore[attr-defined]  # so that a test can list them
    return on_replica
