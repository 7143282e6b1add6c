"""Merkle trees: the known values of Certificate Transparency, a second implementation, and any tree at all."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.proof import merkle
from ledger.proof.merkle import MerkleTree, Unproved, check_consistency, check_inclusion, consistency, inclusion

KNOWN_LEAVES = [
    bytes.fromhex(leaf)
    for leaf in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
"""The leaves by which Certificate Transparency's own implementations are tested."""
KNOWN_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
KNOWN_INCLUSION = [
    (0, 8, [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ]),
    (5, 8, [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (1, 5, [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ]),
]  # fmt: skip
KNOWN_CONSISTENCY = [
    (1, 8, [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ]),
    (6, 8, [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]),
    (2, 5, [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ]),
]  # fmt: skip


def naive_root(leaves: list[bytes]) -> bytes:
    """The definition of the RFC, word by word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha256(b"\x01" + naive_root(leaves[:k]) + naive_root(leaves[k:])).digest()


def naive_path(m: int, leaves: list[bytes]) -> list[bytes]:
    """Its PATH."""
    if len(leaves) == 1:
        return []
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if m < k:
        return [*naive_path(m, leaves[:k]), naive_root(leaves[k:])]
    return [*naive_path(m - k, leaves[k:]), naive_root(leaves[:k])]


def naive_subproof(m: int, leaves: list[bytes], b: bool) -> list[bytes]:
    """Its SUBPROOF."""
    if m == len(leaves):
        return [] if b else [naive_root(leaves)]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if m <= k:
        return [*naive_subproof(m, leaves[:k], b), naive_root(leaves[k:])]
    return [*naive_subproof(m - k, leaves[k:], False), naive_root(leaves[:k])]


def test_the_known_roots() -> None:
    """Harm prevented: a tree of our own making, which no other implementation of the RFC agrees with."""
    assert merkle.root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    tree = MerkleTree()
    for leaf, root in zip(KNOWN_LEAVES, KNOWN_ROOTS, strict=True):
        tree.add(leaf)
        assert tree.root.hex() == root


@pytest.mark.parametrize(("index", "size", "path"), KNOWN_INCLUSION)
def test_the_known_inclusion_proofs(index: int, size: int, path: list[str]) -> None:
    """Harm prevented: proofs that only our own verifier accepts."""
    leaves = KNOWN_LEAVES[:size]
    assert [digest.hex() for digest in inclusion(index, leaves)] == path
    check_inclusion(leaves[index], index, size, [*map(bytes.fromhex, path)], bytes.fromhex(KNOWN_ROOTS[size - 1]))


@pytest.mark.parametrize(("old", "new", "path"), KNOWN_CONSISTENCY)
def test_the_known_consistency_proofs(old: int, new: int, path: list[str]) -> None:
    """Harm prevented: the same, for a log that grew."""
    assert [digest.hex() for digest in consistency(old, KNOWN_LEAVES[:new])] == path
    roots = [bytes.fromhex(KNOWN_ROOTS[size - 1]) for size in (old, new)]
    check_consistency(old, new, *roots, [*map(bytes.fromhex, path)])


LEAVES = st.lists(st.binary(max_size=4), min_size=1, max_size=40)


@given(leaves=LEAVES, data=st.data())
def test_every_leaf_of_every_tree_is_proved_and_nothing_else(leaves: list[bytes], data: st.DataObject) -> None:
    """Harm prevented: a proof that holds for a leaf which is not there, or at another place, or in another tree."""
    index, size = data.draw(st.integers(0, len(leaves) - 1)), len(leaves)
    path, root = inclusion(index, leaves), merkle.root(leaves)
    assert root == naive_root(leaves)
    assert path == naive_path(index, leaves)
    check_inclusion(leaves[index], index, size, path, root)
    wrong = [
        (leaves[index] + b"x", index, size, path, root),
        (leaves[index], size, size, path, root),
        (leaves[index], index, size, [*path, root], root),
        (leaves[index], index, size, path, sha256(root).digest()),
    ]
    if path:
        wrong += [
            (leaves[index], index, size, path[:-1], root),
            (leaves[index], index, size, [sha256(path[0]).digest(), *path[1:]], root),
        ]
    for attempt in wrong:
        with pytest.raises(Unproved):
            check_inclusion(*attempt)


@given(leaves=LEAVES, data=st.data())
def test_a_tree_that_grew_is_proved_and_one_that_changed_is_not(leaves: list[bytes], data: st.DataObject) -> None:
    """Harm prevented: a history that was rewritten and still passes for the continuation of the one that was signed."""
    old, new = data.draw(st.integers(1, len(leaves))), len(leaves)
    path, roots = consistency(old, leaves), (merkle.root(leaves[:old]), merkle.root(leaves))
    assert path == naive_subproof(old, leaves, True)
    check_consistency(old, new, *roots, path)
    changed = data.draw(st.integers(0, old - 1))
    rewritten = [*leaves[:changed], leaves[changed] + b"x", *leaves[changed + 1 :]]
    for attempt in (
        (old, new, roots[0], merkle.root(rewritten), consistency(old, rewritten)),
        (old, new, merkle.root(rewritten[:old]), roots[1], path),
        (old, new, *roots, [*path, roots[1]]),
        (0, new, *roots, path),
        (new + 1, new, *roots, path),
    ):
        with pytest.raises(Unproved):
            check_consistency(*attempt)
    if path:
        with pytest.raises(Unproved):
            check_consistency(old, new, *roots, path[:-1])


@given(leaves=LEAVES)
def test_the_path_of_one_leaf_proves_no_other_place(leaves: list[bytes]) -> None:
    """Harm prevented: two entries that change places, both still proved."""
    named = [bytes([index]) + leaf for index, leaf in enumerate(leaves)]
    root = merkle.root(named)
    for index in range(len(named)):
        for place in range(len(named)):
            if place != index:
                with pytest.raises(Unproved):
                    check_inclusion(named[index], place, len(named), inclusion(index, named), root)


def test_there_are_no_proofs_of_what_is_not_there() -> None:
    """Harm prevented: a traceback in the middle of an export."""
    for wrong in (-1, 1):
        with pytest.raises(ValueError, match="none with the index"):
            inclusion(wrong, [b""])
    for wrong in (0, 2):
        with pytest.raises(ValueError, match="did not grow"):
            consistency(wrong, [b""])
