"""Is the house open: are the database and Redis reachable, and if not, which one is not."""

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def redis_answers() -> bool:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2) as client:
            return bool(client.ping())
    except (redis.RedisError, ValueError):  # ValueError: no server is configured at all
        return False


def healthz(request: HttpRequest) -> JsonResponse:
    """200 when all is well, 503 naming what is not; says nothing else to whoever asks."""
    answers = {"database": database_answers(), "redis": redis_answers()}
    return JsonResponse(answers, status=200 if all(answers.values()) else 503)
