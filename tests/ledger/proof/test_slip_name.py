"""Names of slips: one spelling each, read back the same, and nothing else taken for one."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.proof.slip_name import NotASlipName, SlipName

NAMES = st.builds(
    SlipName,
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=16),
    st.integers(1000, 9999),
    st.integers(1, 999_999_999),
)
PIECES = st.sampled_from(["fill", "rack", "/", "//", "2026", "0", "1", "+1", "-1", " ", "\n", "١", "1.5", "F", ""])


@given(NAMES)
def test_a_name_is_read_as_it_was_spelled(name: SlipName) -> None:
    """Harm: a slip that is signed under one name and looked up under another."""
    assert SlipName.parse(str(name)) == name
    assert str(name) == f"{name.run}/{name.number}"


@given(st.text(max_size=30) | st.lists(PIECES, max_size=8).map("".join))
def test_no_slip_has_two_spellings(text: str) -> None:
    """Harm: "fill/2026/03" is another text than "fill/2026/3", so what was signed once is signed again."""
    with suppress(NotASlipName):
        assert str(SlipName.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "fill", "fill/2026", "fill/2026/", "fill/2026/0", "fill/2026/03", "fill/2026/-3", "fill/2026/3/", "fill//3",
     "Fill/2026/3", "fill/26/3", "fill/2026/3\n", "fill/2026/٣", "/2026/3", "fill/2026/9999999999"],
)  # fmt: skip
def test_what_is_no_name_is_none(text: str) -> None:
    """Harm: a number that no column holds, or that is no number, is an error of the server and not a refusal."""
    with pytest.raises(NotASlipName, match="names no slip"):
        SlipName.parse(text)


def test_slips_are_in_the_order_of_their_numbers() -> None:
    """Harm: sorted as texts, slip 10 stands before slip 9."""
    assert sorted([SlipName("fill", 2026, 10), SlipName("fill", 2026, 9)])[0].number == 9
