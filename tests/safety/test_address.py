"""Only public addresses, whatever they are written as."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.errors import ConfigError
from lswc.safety.address import Networks, machine_of

OPEN = Networks()


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "203.113.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808",
     "2002:808:808::1", "172.15.255.255", "172.32.0.0", "11.0.0.0", "223.255.255.255"],
)  # fmt: skip
def test_public(address: str) -> None:
    assert OPEN.refusal(address, 80) is None


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.255.255.255", "0.0.0.1", "10.0.0.1", "172.16.0.1", "172.31.255.255",
     "192.168.0.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192",
     "168.63.129.16", "198.18.0.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
     "255.255.255.255", "192.88.99.1",
     "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1",
     "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1",
     "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:c0a8:1::1",
     "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "3fff::1", "5f00::1", "100::1",
     "", "localhost", "2130706433", "0x7f.1", "127.1"],
)  # fmt: skip
def test_not_public(address: str) -> None:
    assert OPEN.refusal(address, 80) == "address not public"


@given(st.ip_addresses(v=4))
def test_an_embedded_address_counts_as_what_it_embeds(address: IPv4Address) -> None:
    inner = int(address)
    forms = [0xFFFF << 32 | inner, 0x64FF9B << 96 | inner, 0x2002 << 112 | inner << 80]
    for form in forms:
        outer = OPEN.refusal(str(IPv6Address(form)), 80)
        assert outer == OPEN.refusal(str(address), 80)


def test_allowed_networks_are_allowed_besides() -> None:
    networks = Networks.of(["127.0.0.0/30", "fd00::/8"], [])
    assert networks.refusal("127.0.0.3", 80) is None
    assert networks.refusal("fd12::1", 80) is None
    assert networks.refusal("127.0.0.4", 80) == "address not public"
    assert networks.refusal("8.8.8.8", 80) is None


def test_ports() -> None:
    networks = Networks.of([], ["80", 443])
    assert networks.refusal("8.8.8.8", 443) is None
    assert networks.refusal("8.8.8.8", 22) == "port"


@pytest.mark.parametrize(
    ("networks", "ports", "named"),
    [
        (["10.0.0.1/8"], [], "host bits"),
        (["home"], [], "'home'"),
        ([], ["http"], "'http'"),
        ([], ["0"], "'0'"),
        ([], ["65536"], "'65536'"),
    ],
)
def test_wrong_settings(networks: list[str], ports: list[str], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        Networks.of(networks, ports)


@pytest.mark.parametrize(
    ("address", "machine"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2606:4700::1111", "2606:4700::/64"),
        ("2606:4700:0:0:ffff::1", "2606:4700::/64"),
        ("2606:4700:0:1::1", "2606:4700:0:1::/64"),
        ("::ffff:8.8.8.8", "8.8.8.8"),
        ("64:ff9b::808:808", "8.8.8.8"),
        ("64:ff9b::808:809", "8.8.8.9"),
        ("2002:808:808:1::1", "8.8.8.8"),
    ],
)
def test_a_machine_has_all_addresses_of_its_64(address: str, machine: str) -> None:
    assert machine_of(address) == machine
