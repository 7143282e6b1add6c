"""What a browser is allowed to do, and that it is the browser which is asked."""

from typing import Any

import pytest
from django.test import Client

from tests.processes import Web


def policy(client: Client, path: str) -> dict[str, str]:
    header = client.get(path).headers["Content-Security-Policy"]
    return dict(part.strip().split(" ", 1) for part in header.split(";"))


@pytest.mark.django_db
def test_nothing_but_our_own_scripts(client: Client) -> None:
    found = policy(client, "/sign-in/")
    assert found["default-src"] == found["script-src"] == found["style-src"] == "'self'"
    assert found["object-src"] == found["frame-ancestors"] == "'none'"


@pytest.mark.django_db
def test_the_admin_alone_may_evaluate(client: Client) -> None:
    assert "'unsafe-eval'" in policy(client, "/admin/login/")["script-src"]
    for path in ("/sign-in/", "/healthz", "/administration", "/no-such-page"):
        assert "unsafe" not in policy(client, path)["script-src"], path


def test_the_admins_sign_in_works_in_a_browser_under_its_policy(page: Any, web: Web) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto("/admin/login/")
    assert page.locator("input[name=username]").is_visible()
    assert not [text for text in complaints if "Content Security Policy" in text]
