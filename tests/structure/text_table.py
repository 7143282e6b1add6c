"""Plain text tables: the first column aligned to the left, all others to the right."""

from collections.abc import Sequence


def text_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table with one line of heads, without borders."""
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    return "\n".join(_line(line, widths) for line in cells)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()
