"""What a form says of the paper that its input stands on."""

from __future__ import annotations

from django.http import HttpRequest

from dealer_ui import dates
from tables.floor.back_entry import FromPaper
from tables.refusals import Refused


def of_form(request: HttpRequest) -> FromPaper | None:
    """What a form says of the paper that its input stands on; None where it is entered live. Raises Refused."""
    number, happened = request.POST.get("paper", "").strip(), request.POST.get("happened", "").strip()
    if not number and not happened:
        return None
    moment = dates.moment(happened)
    if not number or moment is None:
        says = "What is entered from paper has the paper's number and the time that stands on it: give both, or none."
        raise Refused("bad_paper", says, 422)
    return FromPaper(number, moment)
