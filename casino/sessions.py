"""Sessions that end when somebody stops using the house, though their screen goes on following it by itself."""

from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers


class Sessions(SessionMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Every request renews a session, but for those that a screen makes unasked."""
        session = getattr(request, "session", None)
        if session is None or session.modified or not follows(request):
            return super().process_response(request, response)
        patch_vary_headers(response, ("Cookie",))
        return response


def follows(request: HttpRequest) -> bool:
    """Whether a screen asks by itself, because something happened at a table."""
    unasked = request.headers.get("X-Requested-With") == "fetch" or request.headers.get("HX-Request") == "true"
    stream = request.headers.get("Accept", "") == "text/event-stream"
    return request.method == "GET" and (unasked or stream)
