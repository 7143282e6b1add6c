"""What the content security policy allows in a browser."""

import pytest
from django.test import Client


def policy(client: Client, path: str) -> dict[str, str]:
    header = client.get(path).headers["Content-Security-Policy"]
    return dict(part.strip().split(" ", 1) for part in header.split(";"))


@pytest.mark.django_db
def test_nothing_but_our_own_scripts(client: Client) -> None:
    directives = policy(client, "/sign-in/")
    assert directives["default-src"] == directives["script-src"] == directives["style-src"] == "'self'"
    assert directives["object-src"] == directives["frame-ancestors"] == "'none'"


@pytest.mark.django_db
def test_the_admin_alone_may_evaluate(client: Client) -> None:
    assert "'unsafe-eval'" in policy(client, "/admin/login/")["script-src"]
    for path in ("/sign-in/", "/healthz", "/administration", "/no-such-page"):
        assert "unsafe" not in policy(client, path)["script-src"], path
