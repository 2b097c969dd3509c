"""Hosts: which of them are this machine."""

import ipaddress


def is_loopback(host: str | None) -> bool:
    """Whether a host is this machine, which nobody else can reach or be under that name."""
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False  # any other name, and be it 127.0.0.1.example.org, may lead anywhere
