"""What a query for Prometheus asks of the house: its metrics, and the labels that it takes them to have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_METRIC: Final = re.compile(r"(casino_[a-z_]+)(?:\{([^}]*)\})?")
_GROUPING: Final = re.compile(r"\b(?:by|without)\s*\(([^)]*)\)")
_SELECTED: Final = re.compile(r"([a-z_]+)\s*(?:=~|!~|!=|=)")
_TEXT: Final = re.compile(r"\"[^\"]*\"")


def metrics_of(query: str) -> Iterator[tuple[str, set[str]]]:
    """Each metric of a query with the labels by which it is chosen or added up. ``le`` is of histograms' buckets."""
    plain = _TEXT.sub('""', query)
    grouped = {label.strip() for labels in _GROUPING.findall(plain) for label in labels.split(",")} - {"le"}
    for name, selector in _METRIC.findall(plain):
        yield name, set(_SELECTED.findall(selector)) | grouped
