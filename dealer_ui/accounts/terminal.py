"""This terminal: its key, made in its browser, and the keys of others that it vouches for."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from dealer_ui.entry_forms import ListField, render_form
from ledger.models import HOUSE
from tables.floor import signature_checks
from tables.form_fields import InputForm
from tables.log.policies import BY_NAME
from tables.log.slip_types import PAPERS, SLIPS
from tables.log.trusted_keys import Trust
from tables.models import Staff, Terminal
from tables.refusals import Refused
from tables.staff import passkeys, terminal_keys, terminals


class TerminalForm(InputForm):
    """The forms of the page: each uses some of the fields."""

    status = 400
    message = "This form was incomplete: load the page again."
    do = forms.CharField(required=False)
    key = forms.CharField(max_length=2_000, required=False)
    proof = forms.CharField(max_length=2_000, required=False)
    challenge = forms.CharField(max_length=2_000, required=False)
    old = forms.CharField(max_length=2_000, required=False)
    name = forms.CharField(max_length=40, required=False)
    fingerprint = forms.CharField(max_length=64, required=False)
    signature = forms.CharField(max_length=2_000, required=False)
    sure = forms.BooleanField(required=False)
    role = ListField()
    paper = ListField()


@require_http_methods(["GET", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """The signing key of this device. A key is made here; those of other terminals are managed by an operator."""
    terminal, refused = terminals.identify(request), None
    if request.method == "POST":
        try:
            if terminal is None:
                raise Refused("not_enrolled", "This browser is no terminal: an operator enrols it first.", 403)
            _do(request, terminal)
            return redirect("terminal")
        except Refused as refusal:
            refused = refusal
    context = {"terminal": terminal} | (_keys(request, terminal) if terminal else {})
    return render_form(request, "dealer_ui/accounts/terminal.html", context, refused)


def _operator(request: HttpRequest) -> Staff | None:
    staff = request.user
    return staff if isinstance(staff, Staff) and staff.has_perm("tables.enrol_terminal") else None


def _keys(request: HttpRequest, terminal: Terminal) -> dict[str, object]:
    keys, operator = signature_checks.trust(), _operator(request)
    key = keys.of(terminal.name)
    active = set(Terminal.objects.filter(is_active=True).values_list("name", flat=True))
    return {
        "key": key,
        "operator": operator,
        "may_make": terminal_keys.may_make(terminal, operator, keys),
        "challenge": terminal_keys.challenge_for(terminal),
        "waiting": [other for other in keys.waiting if other.terminal != terminal.name] if operator else [],
        "roots": keys.roots if operator else [],
        "demanded": keys.demanded is not None,
        "without": sorted(active - {other.terminal for other in keys.keys.values() if other.is_trusted}),
        "book": HOUSE,
        "signers": _signers(keys) if operator else [],
        "papers": [(SLIPS[name].title, name, name in keys.demands) for name in PAPERS] if operator else [],
        "passkeys": any(passkey.until is None for passkey in keys.passkeys.values()),
        "passkeys_demanded": bool(keys.demands),
    }


@dataclass(frozen=True, slots=True)
class Signers:
    """A role that signs in by name, for the page about signing slips with passkeys."""

    name: str
    is_demanded: bool
    without: str
    """Names of its members without a passkey that signs slips, who could then not sign."""


def _signers(keys: Trust) -> list[Signers]:
    people = Staff.objects.filter(is_active=True, role__in=BY_NAME).order_by("name")
    roles = [role for role in BY_NAME if any(role in stage.roles for name in PAPERS for stage in SLIPS[name].steps)]
    return [
        Signers(
            role,
            role in keys.demands,
            ", ".join(who.name for who in people if who.role == role and not keys.signs(who.username)),
        )
        for role in roles
    ]


def _do(request: HttpRequest, terminal: Terminal) -> None:
    """One of the forms of the page. Raises Refused."""
    operator, form = _operator(request), TerminalForm(request.POST)
    values = form.values()
    match values["do"]:
        case "make":
            answers = (values["key"], values["proof"], values["challenge"])
            key = terminal_keys.make(terminal, *answers, by=operator, old=values["old"])
            message = "waits for another terminal to vouch for it" if key.waits else "signs from now on"
            messages.success(request, f"{terminal.name} has a key, which {message}.", extra_tags="key_made")
        case "vouch" if operator:
            name = values["name"]
            terminal_keys.vouch(terminal, name, values["fingerprint"], values["signature"], by=operator)
            messages.success(
                request, f"{terminal.name} vouches for {name}, which signs from now on.", extra_tags="key_vouched"
            )
        case "demand" if operator and values["sure"]:
            terminal_keys.demand(by=operator)
            messages.success(
                request, "From now on every signature carries one by its terminal.", extra_tags="terminal_demanded"
            )
        case "demand-passkeys" if operator and values["sure"]:
            passkeys.demand(values["role"], values["paper"], by=operator)
            messages.success(
                request, "From now on these signatures carry one by a passkey.", extra_tags="passkey_demanded"
            )
        case "vouch" | "demand" | "demand-passkeys" if not operator:
            raise Refused("not_permitted", "Only an operator sees to the keys of terminals: sign in here.", 403)
        case _:
            raise Refused("bad_form", form.message, 400)
