"""Where an embeddings endpoint is: its full URL, and whether texts sent there leave the house."""

from __future__ import annotations

import ipaddress
import socket

import httpx

from remembrancer.errors import ConfigurationError


def endpoint(base_url: str) -> httpx.URL:
    """`…/v1/embeddings` for a URL that ends at the host, at the version or at the endpoint."""
    try:
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigurationError(
            "The embedder's URL is not an http or https address.",
            field="url",
            hint="Give one such as http://127.0.0.1:8080/v1.",
        )
    path = url.path.rstrip("/")
    if path.endswith("/embeddings"):
        return url.copy_with(path=path)
    return url.copy_with(path=f"{path or '/v1'}/embeddings")


def is_external(host: str) -> bool:
    """Whether any address of `host` is neither loopback nor private (RFC 1918, 4193, 3927).

    A name is resolved. One that can't be is external: what isn't known to be near is far.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return True
    return not found or any(_is_public(str(entry[4][0])) for entry in found)


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return not (address.is_loopback or address.is_private or address.is_link_local)
