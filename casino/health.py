"""Is the house open, and what of it is not well. Only without its database it cannot go on dealing."""

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

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
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as client:
            return bool(client.ping())
    except (redis.RedisError, ValueError):  # ValueError: no server is configured at all
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
