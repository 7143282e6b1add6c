"""Merkle trees as RFC 9162, section 2.1, has them: roots, proofs that a leaf is in one, and that one only grew."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

EMPTY = sha256(b"").digest()
"""The root of a tree without leaves."""


class Unproved(Exception):
    """A proof that does not lead to the root."""


def leaf_hash(leaf: bytes) -> bytes:
    """The hash of a leaf: prefixed, so that no leaf can pass for a node."""
    return sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees."""
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that leaves are added to. It remembers one hash for each full subtree, so its size costs nothing."""

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self.size = 0
        self._full: list[bytes] = []
        for leaf in leaves:
            self.add(leaf)

    def add(self, leaf: bytes) -> None:
        """One more leaf; each trailing one in the old size's binary form is a subtree that becomes full with it."""
        digest, size = leaf_hash(leaf), self.size
        while size & 1:
            digest, size = node_hash(self._full.pop(), digest), size >> 1
        self._full.append(digest)
        self.size += 1

    @property
    def root(self) -> bytes:
        """The root of the leaves so far."""
        if not self._full:
            return EMPTY
        digest = self._full[-1]
        for left in reversed(self._full[:-1]):
            digest = node_hash(left, digest)
        return digest


def root(leaves: Iterable[bytes]) -> bytes:
    """The root of some leaves, in their order."""
    return Tree(leaves).root


# --- Making proofs --------------------------------------------------------------------------------------------


def inclusion(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """The hashes that lead from the leaf with this index to the root."""
    if not 0 <= index < len(leaves):
        raise ValueError(f"a tree of {len(leaves)} leaves has none with the index {index}")
    return _inclusion(index, [leaf_hash(leaf) for leaf in leaves])


def consistency(old: int, leaves: Sequence[bytes]) -> list[bytes]:
    """The hashes that show that the tree of the first `old` leaves grew into the tree of all of them."""
    if not 0 < old <= len(leaves):
        raise ValueError(f"a tree of {len(leaves)} leaves did not grow out of one of {old}")
    return _grown(old, [leaf_hash(leaf) for leaf in leaves], whole=True)


def _inclusion(index: int, hashes: Sequence[bytes]) -> list[bytes]:
    if len(hashes) == 1:
        return []
    middle = _split(len(hashes))
    if index < middle:
        return [*_inclusion(index, hashes[:middle]), _root(hashes[middle:])]
    return [*_inclusion(index - middle, hashes[middle:]), _root(hashes[:middle])]


def _grown(old: int, hashes: Sequence[bytes], *, whole: bool) -> list[bytes]:
    """`whole`: whether the old tree is the whole of what was asked about, so that its root is known already."""
    if old == len(hashes):
        return [] if whole else [_root(hashes)]
    middle = _split(len(hashes))
    if old <= middle:
        return [*_grown(old, hashes[:middle], whole=whole), _root(hashes[middle:])]
    return [*_grown(old - middle, hashes[middle:], whole=False), _root(hashes[:middle])]


def _root(hashes: Sequence[bytes]) -> bytes:
    """The root over leaves that are hashed already."""
    if len(hashes) == 1:
        return hashes[0]
    middle = _split(len(hashes))
    return node_hash(_root(hashes[:middle]), _root(hashes[middle:]))


def _split(size: int) -> int:
    """The largest power of two that is less than the size."""
    return 1 << (size - 1).bit_length() - 1


# --- Checking proofs ------------------------------------------------------------------------------------------


def check_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], expected: bytes) -> None:
    """Raise Unproved unless the path leads from the leaf to this root of a tree with so many leaves."""
    if not 0 <= index < size:
        raise Unproved(f"a tree of {size} leaves has none with the index {index}")
    digest, here, last = leaf_hash(leaf), index, size - 1
    for other in path:
        if last == 0:
            raise Unproved("the path is longer than the tree is high")
        if here & 1 or here == last:
            digest = node_hash(other, digest)
            while here and not here & 1:
                here, last = here >> 1, last >> 1
        else:
            digest = node_hash(digest, other)
        here, last = here >> 1, last >> 1
    if last:
        raise Unproved("the path ends below the root")
    if digest != expected:
        raise Unproved("the path leads to another root")


def check_consistency(old: int, new: int, old_root: bytes, new_root: bytes, path: Sequence[bytes]) -> None:
    """Raise Unproved unless the path shows that the tree with the old root grew into the one with the new root."""
    if not 0 < old <= new:
        raise Unproved(f"a tree of {new} leaves did not grow out of one of {old}")
    if old == new:
        if path or old_root != new_root:
            raise Unproved("two trees of one size are the same tree, or nothing proves it")
        return
    steps = [old_root, *path] if old & (old - 1) == 0 else list(path)
    if not steps:
        raise Unproved("the path is empty")
    here, last = old - 1, new - 1
    while here & 1:
        here, last = here >> 1, last >> 1
    before = after = steps[0]
    for other in steps[1:]:
        if last == 0:
            raise Unproved("the path is longer than the tree is high")
        if here & 1 or here == last:
            before, after = node_hash(other, before), node_hash(other, after)
            while here and not here & 1:
                here, last = here >> 1, last >> 1
        else:
            after = node_hash(after, other)
        here, last = here >> 1, last >> 1
    if last:
        raise Unproved("the path ends below the root")
    if before != old_root:
        raise Unproved("the path leads to another old root")
    if after != new_root:
        raise Unproved("the path leads to another new root")
