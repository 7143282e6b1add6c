"""How an entry is spelled: nothing is lost, everything has one spelling, and a format stays as it was given out."""

import json
import re
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from ledger.proof import spelling
from ledger.proof.spelling import ROUTES, SHAPES, Heading, Misspelled, canonical

DOCS = Path(settings.BASE_DIR, "docs")
VECTORS = json.loads((DOCS / "entry-vectors.json").read_text())

words = st.sampled_from(["~", "~~", "~c", "~i", "~new", "card"])
scalar = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | words
json_values = st.recursive(
    scalar,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["do", "seat", "actions", "x"]), inner, max_size=3),
        *(st.fixed_dictionaries(dict.fromkeys(shape.names, inner)) for shape in SHAPES if shape.do is None),
        *(
            st.fixed_dictionaries({"do": st.sampled_from([shape.do, "other"])} | dict.fromkeys(shape.names, inner))
            for shape in SHAPES
            if shape.do is not None
        ),
    ),
    max_leaves=20,
)
objects = json_values.filter(lambda value: isinstance(value, dict))
contents = st.dictionaries(st.text(max_size=4), json_values, max_size=3) | objects
places = st.sampled_from(["players", "layout", "rack", "cage"])
accounts = st.builds("{}#{}".format, places, st.sampled_from([1, 17, "01"]))
kinds = st.sampled_from([*ROUTES, "fill", "reversal"])
moves = st.lists(
    st.tuples(kinds, accounts, accounts, st.integers(1, 10**9), st.none() | st.just(5)).map(list), max_size=3
)


@given(st.sampled_from(["round", "slip"]), contents, moves)
def test_what_is_spelled_is_read_back(subject: str, content: dict[str, Any], moves: list[Any]) -> None:
    """Harm: a content that is read back as another one, or a log that does not hold because of it."""
    body = spelling.spell(subject, content, moves)
    parts = spelling.read(subject, body)
    assert (parts.format, canonical(parts.content)) == (2, canonical(content))
    assert spelling.is_canonical(subject, body, parts)


@given(contents)
def test_a_long_spelling_of_what_has_a_short_one_is_none(content: dict[str, Any]) -> None:
    """Harm: two spellings of one entry, of which an intruder picks the one whose hash suits them."""
    long, short = canonical([2, content]), spelling.spell("round", content, [])
    if long != short:
        try:
            parts = spelling.read("round", long)
        except Misspelled:
            return
        assert not spelling.is_canonical("round", long, parts)


def test_a_format_that_was_given_out_stays_as_it_is() -> None:
    """Harm: a shape is changed, and no log that was written with it can be read any more. Add a format instead."""
    tables = [[[shape.tag, shape.names, shape.do] for shape in SHAPES], sorted(ROUTES.items()), spelling.SHORTENED]
    assert sha256(canonical(tables)).hexdigest() == DIGEST


DIGEST = "e72cc46d0865ca35cc8d0c69c3f1be0d7f72fb9a293fea9af035abee0b792b74"


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['heading'][3]}-{vector['heading'][1]}")
def test_the_vectors_of_the_documentation_hold(vector: dict[str, Any]) -> None:
    """Harm: an outsider's verifier, written by the documentation, finds fault with an honest log."""
    line = vector["line"].encode()
    heading, body = spelling.split(line)
    subject = vector["heading"][3]
    parts = spelling.read(subject, body)
    assert heading == (vector["heading"] if vector["format"] == 2 else None)
    assert (parts.format, parts.content, parts.moves) == (vector["format"], vector["content"], vector["moves"])
    assert spelling.is_canonical(subject, body, parts)
    assert spelling.line(_heading(vector["heading"]), body) == line
    assert sha256(bytes.fromhex(vector["previous"] or "") + line).hexdigest() == vector["hash"]


def _heading(values: list[Any]) -> Heading:
    book, seq, time_text, subject, kind, number, by, key = values
    moment = datetime.strptime(time_text, "%Y-%m-%dT%H:%M:%S.%f%z")
    return Heading(book, seq, moment, subject, kind, number, by, UUID(key) if key else None)


def test_the_vectors_have_every_shape_but_that_of_a_score_and_form_one_chain() -> None:
    """Harm: a shape that the documentation shows to nobody."""
    lines = "".join(vector["line"] for vector in VECTORS)
    assert {shape.tag for shape in SHAPES if f'["{shape.tag}"' not in lines} == {"~q"}
    assert [vector["previous"] for vector in VECTORS] == [None, *(vector["hash"] for vector in VECTORS[:-1])]


def test_the_documentation_lists_the_shapes_and_the_routes() -> None:
    """Harm: the tables of the documentation and of the program drift apart."""
    page = (DOCS / "entry-format.md").read_text()
    tags = re.findall(r"^\| `(~\w)` \| (.*) \|$", page, re.MULTILINE)
    assert [(tag, re.findall(r"`(\w+)`", names)) for tag, names in tags] == [
        (shape.tag, [*(["do", shape.do] if shape.do else []), *shape.names]) for shape in SHAPES
    ]
    routes = re.findall(r"^\| `(\w+)` \| (\w+) \| (\w+) \|$", page, re.MULTILINE)
    assert {kind: (start, end) for kind, start, end in routes} == dict(ROUTES)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"7", b"[1] ", b"[1]", b'["a"]  [2,{}]', b'["a"] {"a":1}', b'[ "a"] [2,{}]', b"[" * 100_000, b"\xff",
        b'["a"][2,{}]',
    ],
    ids=lambda text: repr(text[:20]),
)  # fmt: skip
def test_what_is_no_line_is_refused(text: bytes) -> None:
    """Harm: a line that this verifier reads in one way, and another program in another way."""
    with pytest.raises(Misspelled):
        spelling.split(text)
