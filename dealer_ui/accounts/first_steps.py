"""Start here: the first steps of each role, shown until the user has read them.

That they were read is stored in the browser, for each user separately. The page remains, linked from the account.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from dealer_ui.guards import viewer_of
from dealer_ui.templatetags.start import SALT, cookie_of, is_read
from tables.roles import Role

KEPT_SECONDS: Final = 365 * 24 * 3600


class FirstStep(NamedTuple):
    """One thing to do, where it is done, and what to try in a demo."""

    title: str
    text: str
    link: str
    """The name of its address."""
    demo: str = ""


_SLIPS: Final = FirstStep(
    "Sign what waits for you",
    "Every paper is signed on a terminal, by badge and PIN, by whoever stands there.",
    "slips:book",
    "Open one of the drop boxes: five signatures, and a print.",
)

STEPS: Final[Mapping[str, tuple[FirstStep, ...]]] = {
    Role.DEALER: (
        FirstStep(
            "Pick your table",
            "Sign in on a terminal by badge and PIN, and tap the table that you deal.",
            "dealer:tables",
            "Rocket 1 waits for you, its rack counted.",
        ),
        FirstStep(
            "Follow the one prompt",
            "The shoe first; then bets, then each card as you turn it. Backspace takes a wrong key back.",
            "dealer:tables",
            "Number keys name cards; 0 is a ten.",
        ),
        FirstStep(
            "Practise without chips",
            "A practice asks what to do and what to pay. A good score makes a certificate, once a pit boss signs it.",
            "practice:begin",
        ),
    ),
    Role.PIT_BOSS: (
        FirstStep(
            "Read the floor",
            "Every table, live: who deals, what lies there, what wants you.",
            "pit:floor",
            "Start the demo with --live, and it moves.",
        ),
        FirstStep(
            "Take note of alerts",
            "Each says what happened and leads there. Write what it came to.",
            "pit:alerts",
            "Those of the last two evenings wait for you.",
        ),
        FirstStep(
            "Rule on disputes",
            "Hear the player, then the dealer; see what each ruling costs; sign the correction by two.",
            "pit:disputes",
            "One of last night waits for a ruling.",
        ),
        FirstStep(
            "Sign the day",
            "What every table won. A pit boss signs first, an operator second.",
            "pit:reports",
            "Yesterday is counted and ready.",
        ),
    ),
    Role.OPERATOR: (
        FirstStep(
            "Set the house up", "Tables, limits, chips, people, terminals: in the administration.", "admin:index"
        ),
        FirstStep(
            "Close the day",
            "You sign second, after a pit boss, the figures that you see.",
            "pit:reports",
            "Sign yesterday as Bella first.",
        ),
        FirstStep("See who may do what", "And since when, and who granted it.", "pit:access"),
        FirstStep("Help somebody to a PIN", "Two of you give a code; its owner makes the secret.", "codes"),
    ),
    Role.AUDITOR: (
        FirstStep(
            "Prove the house",
            "Sealed days and their roots. Verify one, or all; take its bundle and prove it elsewhere.",
            "pit:audit",
            "Thirteen days are sealed.",
        ),
        FirstStep(
            "Read the exceptions",
            "What was out of the ordinary on a day, and each dealer beside the house.",
            "pit:exceptions",
        ),
        FirstStep(
            "Search the log",
            "By person, table, kind, time, amount and words, all books at once.",
            "pit:search",
        ),
        *(
            [
                FirstStep(
                    "Look at the shoes",
                    "Who bet by the cards that were left.",
                    "pit:shoes",
                    "One seat of Rocket 1 did, six evenings ago.",
                )
            ]
            if settings.ADVANTAGE_ANALYSIS
            else []
        ),
    ),
    Role.CASHIER: (
        FirstStep("See what the cage holds", "Chips by kind, cash, and what is on its way.", "cage"),
        FirstStep("Sell and redeem", "Chips for cash and back, by the piece.", "cage", "Sell 500 in greens."),
        _SLIPS,
    ),
    Role.CAGE_MANAGER: (
        FirstStep("See what the cage holds", "Chips by kind, cash, and what is on its way.", "cage"),
        FirstStep("Know your chips", "Series, kinds, what is out and what came back.", "slips:chips"),
        _SLIPS,
    ),
    Role.SECURITY: (
        FirstStep("Carry chips and boxes", "A fill or a credit waits until you sign that you carry it.", "slips:book"),
        FirstStep("Keys that are out", "Who has which, since when.", "slips:custody"),
        _SLIPS,
    ),
    Role.COUNTER: (
        FirstStep(
            "Count what was dropped", "Two of you count each box, neither seeing the other's figures.", "slips:book"
        ),
        FirstStep("Keys that are out", "Who has which, since when.", "slips:custody"),
        _SLIPS,
    ),
    Role.SURVEILLANCE: (
        FirstStep("Watch the floor", "Every table and every round, live.", "pit:floor"),
        FirstStep(
            "Mark a moment",
            "A bookmark keeps the time, the table and the camera; who is watched never sees it.",
            "pit:bookmarks",
            "One is there.",
        ),
        FirstStep("Play a round back", "Disputes lead to their round, card by card.", "pit:disputes"),
        FirstStep("Search the log", "By person, table, kind, time, amount and words.", "pit:search"),
    ),
}


@login_required
@require_GET
def start(request: HttpRequest) -> HttpResponse:
    """The first steps of the signed-in user."""
    context = {
        "steps": STEPS[viewer_of(request).role],
        "is_demo": settings.DEMO,
        "is_read": is_read(request),
        "role": Role(viewer_of(request).role).label,
    }
    return render(request, "dealer_ui/accounts/start.html", context)


@login_required
@require_POST
def put_away(request: HttpRequest) -> HttpResponse:
    """Read: it is offered no more in this browser, until the person works in another role."""
    answer = redirect("home")
    answer.set_signed_cookie(
        cookie_of(viewer_of(request)),
        viewer_of(request).role,
        salt=SALT,
        max_age=KEPT_SECONDS,
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )
    return answer
