"""Is the house open, and what of it is not well. Only without its database it cannot go on dealing."""

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
    """200 as long as tables can deal, and in any case what is well; says nothing else to whoever asks."""
    database = database_answers()
    well = {"database": database, "redis": redis_answers(), "watch": database and watch_is_kept()}
    return JsonResponse(well, status=200 if database else 503)
