"""The health check. Only the database is required for dealing."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

from ledger import broker
from tables.audit import watch


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def redis_answers() -> bool:
    try:
        with broker.connected() as client:
            return bool(client.ping())
    except broker.BrokerAway:
        return False


def watch_is_kept() -> bool:
    try:
        return watch.is_kept()
    except DatabaseError:
        return False


def healthz(request: HttpRequest) -> JsonResponse:
    """Status 200 while tables can deal, otherwise 503, with the state of each component. Public, so it reveals nothing
    else."""
    database = database_answers()
    well = {"database": database, "redis": redis_answers(), "watch": database and watch_is_kept()}
    return JsonResponse(well, status=200 if database else 503)
