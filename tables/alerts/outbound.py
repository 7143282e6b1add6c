"""The site's HTTP client, and requests to addresses that operators enter: of webhooks, a head office and witnesses.

The name of such an address is looked up once, and the connection is made to the IP address that was checked, which
prevents DNS rebinding. Redirects are not followed, because their targets are not checked. httpx is imported late:
importing it takes longer than most commands run.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import httpx


class NotSent(Exception):
    """A failed attempt, with the reason as its message. ``for_good``: another attempt would fail too."""

    def __init__(self, sentence: str, *, for_good: bool = False) -> None:
        super().__init__(sentence)
        self.for_good = for_good


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """The response of a receiver."""

    status: int
    body: bytes
    """Its beginning."""


def client(seconds: float, authority: str = "") -> httpx.Client:
    """A client for addresses that an administrator enters on the host: no pinned address, no proxy. ``authority``: a
    file of certificates instead of the system's."""
    import httpx

    context = ssl.create_default_context(cafile=authority or None)
    limits = httpx.Limits(max_keepalive_connections=0)  # a request on a connection that the site closed would fail
    return httpx.Client(timeout=seconds, verify=context, trust_env=False, limits=limits)


def post(
    address: str, body: bytes, headers: Mapping[str, str], *, to_own_host: bool, seconds: float, most: int
) -> OutboundResponse:
    """Post a body. Each step may take ``seconds``, the whole request twice as long; at most ``most`` bytes of the
    response are read. ``to_own_host``: whether loopback addresses are permitted. Raises NotSent."""
    import httpx

    try:
        url = httpx.URL(address)
        port = url.port or (443 if url.scheme == "https" else 80)
        ip = _looked_up(url.raw_host.decode(), port, to_own_host=to_own_host)
        return asyncio.run(_post(url, ip, body, headers, seconds, most))
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as failure:
        raise NotSent(f"the receiver could not be reached: {type(root_cause(failure)).__name__}") from None


async def _post(
    url: httpx.URL, ip: str, body: bytes, headers: Mapping[str, str], seconds: float, most: int
) -> OutboundResponse:
    """Post to an IP address; the certificate is verified for the URL's host. The time limit of the whole covers a
    receiver that sends single bytes in time, which would otherwise occupy a worker forever."""
    import httpx

    sent = {"Host": url.netloc.decode(), "User-Agent": "casino-tables", "Accept-Encoding": "identity", **headers}
    pinned, host = url.copy_with(host=ip), {"sni_hostname": url.raw_host.decode()}
    async with (
        asyncio.timeout(2 * seconds),
        httpx.AsyncClient(timeout=seconds, verify=ssl.create_default_context(), trust_env=False) as sender,
        sender.stream("POST", pinned, content=body, headers=sent, extensions=host) as answer,
    ):
        return OutboundResponse(answer.status_code, await anext(answer.aiter_raw(most), b""))


def root_cause(failure: Exception) -> Exception:
    """The error of the operating system or of TLS that httpx reports as its own."""
    while isinstance(inner := failure.__cause__ or failure.__context__, Exception):
        failure = inner
    return failure


def _looked_up(host: str, port: int, *, to_own_host: bool) -> str:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotSent(f"there is no host {host}") from None
    ips = [str(address[0]) for *_, address in addresses]
    for ip in ips:
        if fault := ip_fault(ip, to_own_host=to_own_host):
            raise NotSent(fault, for_good=True)
    return ips[0]


# --- Addresses of the network ------------------------------------------------------------------------------------


def ip_fault(ip: str, *, to_own_host: bool) -> str:
    """Why an IP address is refused; empty if requests to it are permitted. Public addresses and those of private
    networks are permitted; metadata services of clouds are not, nor this host unless ``to_own_host``."""
    address = ipaddress.ip_address(ip.partition("%")[0])
    if address.is_loopback:
        return "" if to_own_host else f"{ip} is this host itself"
    if embedded := _embedded(address):
        return next(filter(None, (ip_fault(str(inner), to_own_host=to_own_host) for inner in embedded)), "")
    is_receiver = address.is_global or _is_in(address, _OWN_NETWORKS)
    if not is_receiver or address.is_multicast or _is_in(address, _REFUSED):
        return f"{ip} is not an address that this site sends to"
    return ""


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Networks = tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]


def _embedded(address: _Address) -> tuple[ipaddress.IPv4Address, ...]:
    """The IPv4 addresses to which a packet for an IPv6 address is passed on."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    if _is_in(address, _END_IN_IPV4) or int(address) >> 32 & _ISATAP_MASK == _ISATAP:
        return (ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF),)
    return (address.sixtofour,) if address.sixtofour else address.teredo or ()


def _is_in(address: _Address, networks: _Networks) -> bool:
    return any(address in network for network in networks)


def _networks(text: str) -> _Networks:
    return tuple(map(ipaddress.ip_network, text.split()))


_END_IN_IPV4: Final = _networks("::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96")
"""IPv4-compatible, -mapped and -translated addresses, and NAT64 (RFC 4291, 2765, 6052)."""
_ISATAP: Final = 0x0000_5EFE
_ISATAP_MASK: Final = 0xFDFF_FFFF
"""The first half of an ISATAP interface identifier, whose second half is an IPv4 address; and its bits without the one
for a global identifier (RFC 5214)."""
_OWN_NETWORKS: Final = _networks("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7")
"""Not public, and networks of houses (RFC 1918, 6598, 4193)."""
_REFUSED: Final = _networks(
    "168.63.129.16/32 100.100.100.200/32 192.0.0.0/24 fd00:ec2::/32 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128"
    " fd00:42::42/128 64:ff9b:1::/48"
)
"""Metadata of clouds at addresses that would pass: Azure, Alibaba, Oracle Classic, AWS, Google, Oracle, Scaleway. And
NAT64 for local use (RFC 8215), in which an IPv4 address has no fixed place."""
