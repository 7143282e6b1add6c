"""The import measure on a small made-up product."""

from typing import Final

import pytest

from tests.structure.imports import Graph, imports_of, modules_of, packages_of
from tests.structure.sources import Source

CODE: Final = {
    "shop/__init__.py": "",
    "shop/urls.py": "import shop.sales.till\nfrom shop.stock import shelf, counted\nimport json",
    "shop/sales/__init__.py": "",
    "shop/sales/till.py": "from shop.stock.shelf import take\nfrom . import receipts\nfrom ..prices import VAT",
    "shop/sales/receipts.py": "from shop import prices",
    "shop/stock/__init__.py": "counted = 0",
    "shop/stock/shelf.py": "def take():\n    from shop.orders import letters",
    "shop/orders/__init__.py": "",
    "shop/orders/letters.py": "import typing\nif typing.TYPE_CHECKING:\n    from shop.stock.shelf import take",
    "shop/prices/__init__.py": "VAT = 20",
    "shop/empty/__init__.py": "",
}
SOURCES: Final = [Source(path, text) for path, text in CODE.items()]
PACKAGES: Final = packages_of(SOURCES, imports_of(SOURCES))
MODULES: Final = modules_of(SOURCES, imports_of(SOURCES))


def test_arrows_include_relative_lazy_and_typing_imports() -> None:
    """Harm: a dependency between packages is not counted, as it is written as a relative, lazy or typing import."""
    assert set(PACKAGES.pairs) == {
        ("shop", "shop.sales"),
        ("shop", "shop.stock"),
        ("shop.sales", "shop.stock"),
        ("shop.sales", "shop.prices"),
        ("shop.stock", "shop.orders"),
        ("shop.orders", "shop.stock"),
    }
    assert set(MODULES.arrows["shop.urls"]) == {"shop.sales.till", "shop.stock.shelf", "shop.stock"}


def test_a_package_without_modules_does_not_count() -> None:
    """Harm: a move of modules seems to leave as many packages as before, because emptied ones still count."""
    assert set(PACKAGES.arrows) == {"shop", "shop.sales", "shop.stock", "shop.orders", "shop.prices"}


def test_cycles_of_packages_and_of_modules() -> None:
    """Harm: two packages import each other and the measure reports no cycle."""
    assert PACKAGES.cycles == [{"shop.stock", "shop.orders"}]
    assert MODULES.cycles == [{"shop.stock.shelf", "shop.orders.letters"}]


@pytest.mark.parametrize(
    ("arrows", "layers", "cycles"),
    [
        ({}, 0, 0),
        ({"a": "", "b": ""}, 1, 0),
        ({"a": "bc", "b": "c", "c": ""}, 3, 0),
        ({"a": "b", "b": "ca", "c": "d", "d": "c"}, 2, 2),
        ({"a": "b", "b": "c", "c": "ad", "d": "e", "e": "", "f": "ae"}, 4, 1),
    ],
)
def test_layers_take_a_cycle_as_one_package(arrows: dict[str, str], layers: int, cycles: int) -> None:
    """Harm: the number of layers depends on the order in which the packages of a cycle are read."""
    for names in (list(arrows), list(reversed(arrows))):
        graph = Graph({name: frozenset(arrows[name]) for name in names})
        assert (graph.layers, len(graph.cycles)) == (layers, cycles)


def test_layers_of_the_whole_product() -> None:
    """Harm: the longest chain of packages is reported shorter than it is."""
    assert PACKAGES.layers == 3
    assert MODULES.layers == 4
