"""The catalog of slips: one record is all that a kind of slip is, and every record fits the house."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import models
from ledger.proof.chips import CAGE, MOVEMENTS, PLACES, VAULT
from ledger.proof.moves import Chart
from tables.log import slip_workflow
from tables.log.entries.slips import SpelledSlip
from tables.log.exception_categories import ORDINARY
from tables.log.signatory import Signatory
from tables.log.slip_types import SLIP_TYPES, SLIPS, CountRule, Flow, SlipType, Stage, catalog, kinds
from tables.log.slip_workflow import Signature, Slip, Wrong
from tables.roles import Role

ROOT = Path(__file__).parents[3]
CHART = Chart(1, {(place, None): number for number, place in enumerate(PLACES)})

LOAN = SlipType(
    "loan",
    title="Loan",
    stages=(
        Stage("asked", frozenset({"cashier"}), "Asked for by", ORDINARY, takes_from=VAULT),
        Stage("lent", frozenset({"operator", "pit_boss"}), "Lent by", ORDINARY, moves=Flow("withdraw", VAULT, CAGE)),
        Stage("back", frozenset({"cashier"}), "Brought back by", ORDINARY, moves=Flow("deposit", CAGE, VAULT)),
    ),
    in_house=True,
    is_voidable=True,
)
INVENTORY = SlipType(
    "inventory",
    title="Inventory",
    stages=(
        Stage("counted", frozenset({"operator"}), "Counted by", ORDINARY, is_count=True),
        Stage(
            "recounted", frozenset({"operator", "auditor"}), "Counted again by", ORDINARY, is_count=True, expects=VAULT
        ),
    ),
    in_house=True,
    count=CountRule("the vault", VAULT, Flow("over", "over_short", VAULT), Flow("short", VAULT, "over_short")),
)
WIDER = catalog(*SLIPS.values(), LOAN, INVENTORY)


def signed(slips: tuple[Slip, ...], name: str, stage: str, role: str, **adds: object) -> Slip:
    """A slip of the wider catalog with one more signature, each by another person."""
    username = f"{role}{sum(len(slip.signed) for slip in slips)}"
    facts = {"slip": name, "stage": stage, "by": Signatory(username, username.title(), None, role)}
    signature = Signature(**facts | adds)  # type: ignore[arg-type]
    return slip_workflow.sign(slips, signature, 7, None, records=WIDER)


# --- a new kind of slip is one record --------------------------------------------------------------------------


def test_a_new_series_is_one_record() -> None:
    """Harm: a kind of slip that is added in one place is unknown in another, and its chips move without a rule."""
    slip = signed((), "loan/2026/1", "asked", "cashier", chips=((500, 10),))
    assert (slip.label, slip.total_cents, slip.due) == ("Loan 1", 5_000, LOAN.stages[1])
    with pytest.raises(Wrong, match=r"Loan 1: this step is signed by an operator or a pit boss, not by Dealer1\."):
        signed((slip,), "loan/2026/1", "lent", "dealer")
    slip = signed((slip,), "loan/2026/1", "lent", "operator")
    assert slip_workflow.moves(CHART, slip) == [CHART.move("withdraw", VAULT, CAGE, 5_000)]
    assert slip_workflow.entry_kind(slip) == "loan_lent"
    assert SpelledSlip.of(slip).read(WIDER) == slip
    slip = signed((slip,), "loan/2026/1", "void_asked", "pit_boss", reason="twice")
    assert signed((slip,), "loan/2026/1", "voided", "auditor").due is None
    assert {"loan_lent", "loan_voided", "inventory_recounted"} <= kinds(house=True, records=WIDER).keys()


@pytest.mark.parametrize(("count", "moved"), [(10, []), (11, [("over", 500)]), (8, [("short", 1_000)])])
def test_a_new_count_is_one_record(count: int, moved: list[tuple[str, int]]) -> None:
    slip = signed((), "inventory/2026/1", "counted", "operator", chips=((500, count),))
    assert slip.total_cents == 0, "nobody is told what the first one counted"
    slip = signed((slip,), "inventory/2026/1", "recounted", "auditor", chips=((500, count),), expected_cents=5_000)
    assert [(move.kind, move.amount_cents) for move in slip_workflow.moves(CHART, slip)] == moved
    assert kinds(house=True, records=WIDER)["inventory_recounted"] == {"over", "short"}


@pytest.mark.parametrize(
    "name", ["fill", "fill/2026", "fill/x/1", "fill/2026/1/2", "correction/2026/1", "marker/2026/1"]
)
def test_an_unknown_slip_type_is_refused_without_a_server_error(name: str) -> None:
    """Harm: an API client that sends an invented name gets a server error, or moves chips by a slip type that is in no
    catalog."""
    with pytest.raises(Wrong) as refused:
        signed((), name, "requested", "pit_boss")
    assert refused.value.code == "unknown_slip"


# --- every record fits the house -------------------------------------------------------------------------------


def flows(series: SlipType) -> Iterator[Flow]:
    """Every movement that a slip of a series may make."""
    yield from (stage.moves for stage in series.stages if stage.moves)
    if series.count:
        yield from series.count.flows


def test_the_database_knows_the_same_series() -> None:
    """Harm: a series that Python signs and the database refuses, or numbers that it takes of a series there is not."""
    assert tuple(SLIP_TYPES) == models.slips.SERIES


@pytest.mark.parametrize("series", SLIP_TYPES.values(), ids=lambda series: series.name)
def test_a_record_is_whole(series: SlipType) -> None:
    """Harm: a step that nobody may sign, chips that go where none may go, a count that is held against nothing."""
    names = [stage.name for stage in series.stages]
    assert len(names) == len(set(names)) > 1
    assert all(stage.roles <= {str(role) for role in Role} and stage.roles and stage.title for stage in series.stages)
    assert series.seen_by <= {str(role) for role in Role}
    assert all((flow.source, flow.target) in MOVEMENTS[flow.kind] for flow in flows(series))
    counting = [stage for stage in series.stages if stage.is_count]
    assert (
        bool(series.count) == bool(counting) == bool(series.expected_places() or (series.count and series.count.note))
    )
    assert len(counting) in (0, 2)
    assert not (series.is_voidable and series.count), "a count is made again, and not void"
    if series.subject == "slip":
        assert all(stage.roles <= series.seen_by for stage in series.stages), "who signs has to see it"
        assert series.begin_label
        assert series.instructions


@pytest.mark.parametrize("series", SLIPS.values(), ids=lambda series: series.name)
def test_chips_on_their_way_arrive(series: SlipType) -> None:
    """Harm: a slip that leaves chips between two places for good."""
    away = 0
    for flow in (stage.moves for stage in series.stages if stage.moves):
        away += (flow.target == "transit") - (flow.source == "transit")
    assert away == 0


# --- and nothing outside of the catalog knows them by name -----------------------------------------------------


def branches(path: Path) -> Iterator[str]:
    """Where a file compares a series with a name, or takes a name apart."""
    for node in ast.walk(ast.parse(path.read_text())):
        is_branch = False
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                texts = {leaf.value for side in sides for leaf in ast.walk(side) if isinstance(leaf, ast.Constant)}
                is_branch = bool(texts & SLIP_TYPES.keys()) and any("series" in ast.unparse(side) for side in sides)
            case ast.Call(func=ast.Attribute(attr="partition" | "rpartition" | "split" | "rsplit")):
                is_branch = any(isinstance(leaf, ast.Constant) and leaf.value == "/" for leaf in node.args[:1])
        if is_branch:
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"


@pytest.mark.slow("parses every module")
def test_no_branch_on_the_name_of_a_series() -> None:
    """Harm: a kind of slip is changed in the catalog, and an `if` somewhere else goes on as before."""
    files = [path for room in ("tables", "ledger", "dealer_ui") for path in sorted((ROOT / room).rglob("*.py"))]
    assert len(files) > 100
    assert [branch for path in files if "migrations" not in path.parts for branch in branches(path)] == []
