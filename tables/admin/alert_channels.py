"""Alert channels in the admin. A changed channel is its next version."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold import widgets

from tables.admin import forms as admin_forms
from tables.admin.forms import DomainForm
from tables.admin.pages import NeverChanged
from tables.alerts import channels
from tables.alerts.alert_types import KINDS, LEVELS
from tables.alerts.models import AlertChannel, ChannelContent
from tables.log.publication import FORMS
from tables.models import Staff, Table
from tables.refusals import Faults


class AlertChannelForm(DomainForm):
    """A channel of outgoing alerts. An existing name gets its next version. The secret is never shown."""

    signed_with = forms.CharField(
        label="Secret",
        required=False,
        widget=widgets.UnfoldAdminPasswordWidget({"autocomplete": "new-password"}),
        help_text="A webhook's alone: what its messages are signed with. Empty: that of the version before stays.",
    )
    both_hours = admin_forms.IntegerField(
        label="Hours for which the former secret also signs",
        required=False,
        min_value=0,
        max_value=channels.MOST_BOTH_HOURS,
        help_text=f"While the receiver is given the new one. Empty: {channels.BOTH_HOURS} where the secret is another,"
        " and else as it was. 0 where it leaked: that ends it now.",
    )
    level = admin_forms.TypedChoiceField(
        label="From the level on",
        coerce=int,
        initial=1,
        choices=list(enumerate(LEVELS)),
    )
    kinds = admin_forms.MultipleChoiceField(
        label="Only alerts of",
        required=False,
        choices=[(about, kind.title) for about, kind in KINDS.items()],
        help_text="None chosen: all.",
    )
    events = admin_forms.MultipleChoiceField(
        label="Only events of these types",
        required=False,
        choices=[(type_, type_) for type_ in sorted(FORMS)],
        help_text="Where it tells events. None chosen: all.",
    )
    at_tables = admin_forms.ModelMultipleChoiceField(
        Table.objects.in_use(),
        label="Only events about these tables",
        required=False,
        help_text="Where it tells events. None chosen: all, and what is about no table.",
    )
    FIELDS = {
        "least_level": "level", "about": "kinds", "secret": "signed_with",  # pragma: allowlist secret
        "types": "events", "tables": "at_tables",
    }  # fmt: skip

    class Meta:
        model = AlertChannel
        fields = ("name", "tells", "means", "address", "is_on")
        help_texts = {
            "name": "A name that there is already gets its next version.",
            "address": "One e-mail address, or an address that begins with https://.",
        }

    def channel(self) -> channels.ChannelDraft:
        typed = self.cleaned_data
        return channels.ChannelDraft(
            name=typed["name"],
            means=typed["means"],
            address=typed["address"],
            secret=typed["signed_with"],
            is_on=typed["is_on"],
            least_level=typed["level"],
            about=tuple(typed["kinds"]),
            tells=typed["tells"],
            types=tuple(typed["events"]),
            tables=tuple(table.name for table in typed["at_tables"]),
            both_hours=typed["both_hours"],
        )

    def faults(self) -> Faults:
        """The faults, compared with the previous version."""
        draft = self.channel()
        return channels.faults(draft, AlertChannel.objects.filter(name=draft.name).order_by("-version").first())

    def write(self, by: Staff) -> AlertChannel:
        return channels.set_channel(self.channel(), by=by)


@admin.register(AlertChannel)
class AlertChannelAdmin(NeverChanged):
    """The versions of all channels."""

    form = AlertChannelForm
    list_display = ("name", "version", "tells", "means", "destination", "level", "is_on", "by", "at")
    list_filter = ("tells", "means", "is_on")
    fields = (
        "name", "tells", "means", "address", "signed_with", "both_hours", "is_on", "level", "kinds", "events",
        "at_tables",
    )  # fmt: skip

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Of an existing channel, the fields of its content, without the secret and the path of its address."""
        if obj is None:
            return self.fields
        content = {ChannelContent.EVENTS: ("events", "about"), ChannelContent.DAYS: ()}.get(
            obj.tells, ("level", "only")
        )
        tells = ("tells",) if obj.tells in (ChannelContent.EVENTS, ChannelContent.DAYS) else ()
        return ("name", "version", *tells, "means", "destination", "former_until", "is_on", *content, "by", "at")

    @admin.display(description="to")
    def destination(self, row: AlertChannel) -> str:
        return channels.destination(row)

    @admin.display(description="from the level on")
    def level(self, row: AlertChannel) -> str:
        return LEVELS[row.least_level]

    @admin.display(description="only alerts of")
    def only(self, row: AlertChannel) -> str:
        return ", ".join(KINDS[about].title for about in row.about if about in KINDS) or "all kinds"

    @admin.display(description="only events of these types")
    def events(self, row: AlertChannel) -> str:
        return ", ".join(row.types) or "all types"

    @admin.display(description="only events about these tables")
    def about(self, row: AlertChannel) -> str:
        return ", ".join(row.tables) or "all, and what is about no table"
