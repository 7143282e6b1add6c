"""Who may enter what at a table: on the floor as in a proof. Each raises Refused for whoever may not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from ledger.proof.chips import RACK
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.scene import Scene
from tables.setup import house_terms

Permit = Callable[[Scene, Staff], None]


def anybody_here(scene: Scene, by: Staff) -> None:
    """Whoever works here: the slip says who may sign which step."""
    if not by.is_active:
        raise Refused("not_permitted", f"{by.name} is no longer active here.", 403)


def not_administering(by: Staff) -> None:
    """Somebody who gave access in this shift handles no chips and no cash in it."""
    hours = house_terms.number("duties_apart_hours")
    until = by.administered_until
    if until is not None and timezone.now() - until < timedelta(hours=hours):
        says = f"{by.name} administered the house less than {hours} hours ago: somebody else has to sign."
        raise Refused("not_permitted", says, 403)


def a_dealer(scene: Scene, by: Staff) -> None:
    """Any dealer may take a table."""
    anybody_here(scene, by)
    if by.role != Role.DEALER:
        raise Refused("not_permitted", "Only a dealer takes a table.", 403)


def the_dealer(scene: Scene, by: Staff) -> None:
    """The dealer who stands there, while the table is open and its rack is not being counted."""
    not_while_counted(scene, by)
    _refuse_closed(scene)
    _refuse_others(scene, by)


def the_dealer_or_the_floor(scene: Scene, by: Staff) -> None:
    """The same, or somebody who runs the floor."""
    not_while_counted(scene, by)
    _refuse_closed(scene)
    if not by.has_perm("tables.run_floor"):
        _refuse_others(scene, by)


def the_floor(scene: Scene, by: Staff) -> None:
    """Who runs the floor, while the table is open and its rack is not being counted."""
    not_while_counted(scene, by)
    _refuse_closed(scene)
    if not by.has_perm("tables.run_floor"):
        raise Refused("not_permitted", "That takes a pit boss.", 403)


def the_dealer_who_leaves(scene: Scene, by: Staff) -> None:
    """The dealer who stands there, whatever is being counted."""
    anybody_here(scene, by)
    _refuse_closed(scene)
    _refuse_others(scene, by)


def for_the_shoe_to_go(scene: Scene, by: Staff) -> None:
    """A shoe may leave a table that is closed, too."""
    anybody_here(scene, by)
    if not by.has_perm("tables.run_floor"):
        _refuse_others(scene, by)


def not_while_counted(scene: Scene, by: Staff) -> None:
    """Whoever works here, unless the rack is being counted: chips must not move then."""
    anybody_here(scene, by)
    for slip in scene.standing.slips:
        if slip.series.counts(RACK):
            says = f"The rack is being counted: sign {slip.series.name} {slip.number} first."
            raise Refused("count_open", says, 409)


def _refuse_closed(scene: Scene) -> None:
    if not scene.standing.is_open:
        raise Refused("table_closed", f"{scene.table.name} is closed: a pit boss has to open it.", 409)


def _refuse_others(scene: Scene, by: Staff) -> None:
    dealer = scene.standing.dealer
    if dealer is None or dealer.username != by.username or not by.has_perm("tables.deal"):
        raise Refused("not_your_table", f"You are not signed in at {scene.table.name}.", 403)
