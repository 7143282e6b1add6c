"""Screens in a real browser, before a web process with the limits as they are shipped."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from casino.web.throttle import ADDRESS
from tests import floor, load
from tests.casino.web.test_throttle import PAGE, SHIPPED_LIMITS
from tests.floor import dealt
from tests.processes import Web

pytestmark = pytest.mark.django_db(transaction=True)


def test_screens_in_a_new_browser_are_far_from_their_limits(browser: Any, own_web: Callable[..., Web]) -> None:
    """Harm: a browser that has none of the files yet is refused one of them, and its screen is dead. Those that are no
    terminal count by their address, too."""
    hand, boss = dealt()
    web = own_web(**SHIPPED_LIMITS)
    for viewer, path, cookies in ((hand.by, f"/tables/{hand.table.pk}/", 2), (boss.by, "/pit/", 1)):
        context = browser.new_context(base_url=web.url)
        context.add_cookies(floor.cookies_of(viewer, web.url)[:cookies])
        page, statuses = context.new_page(), []
        page.on("response", lambda response, statuses=statuses: statuses.append(response.status))
        page.goto(path)
        page.wait_for_selector("[data-state=live]", state="attached")
        assert 10 < len(statuses) <= PAGE
        assert set(statuses) <= {200, 204}
        context.close()


def test_a_refused_page_reloads_by_itself(browser: Any, own_web: Callable[..., Web]) -> None:
    """Harm: somebody opens the floor in a busy moment and sees a bare sentence until they think of reloading; or a
    refused form is taken for sent."""
    tight = {"REQUESTS_PER_ADDRESS": "30", "REQUESTS_PER_ADDRESS_A_SECOND": "1"}
    web = own_web(**SHIPPED_LIMITS | tight)
    with closing(browser.new_page()) as page:
        crowd = load.Browser(web.url)
        while (answer := crowd.send("POST", "/sign-in/", Accept="text/html")).status != 429:
            pass
        assert (answer.headers["retry-after"], answer.headers.get("refresh")) == ("2", None)
        while page.goto(f"{web.url}/sign-in/").status != 429:
            pass
        assert page.inner_text("body") == ADDRESS.sentence
        page.wait_for_selector("h1")
