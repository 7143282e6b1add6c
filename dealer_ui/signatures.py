"""A signature on a form: whose badge and PIN stand in it, and what is done with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django import forms
from django.http import HttpRequest

from tables.models import Staff
from tables.refusals import Refused
from tables.staff import signatures, terminals

Signed = TypeVar("Signed")


class Signature(forms.Form):
    """The badge and the PIN that somebody signs with."""

    badge = forms.RegexField(r"^[0-9]{3,8}\Z")
    pin = forms.RegexField(r"^[0-9]{4,8}\Z")


def sign(
    request: HttpRequest, act: Callable[[Staff], Signed], rehearse: Callable[[Staff], object] | None = None
) -> tuple[Staff, Signed]:
    """Do what this form's badge and PIN sign. Raises Refused."""
    form = Signature(request.POST)
    terminal = terminals.here(request)
    if terminal is None:
        raise terminals.not_enrolled(request)
    if not form.is_valid():
        raise Refused("wrong_credentials", "Sign with your badge number and your PIN: both are digits.", 422)
    return signatures.sign(terminal, form.cleaned_data["badge"], form.cleaned_data["pin"], act, rehearse)
