"""Names that archives give to how a connection was encrypted."""

from __future__ import annotations

import ssl

import pytest

from lswc.crawl.transport.encryption import iana_name


@pytest.mark.parametrize(
    ("openssl", "iana"),
    [
        ("TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
        ("ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
        ("ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
        ("AES256-SHA", "TLS_RSA_WITH_AES_256_CBC_SHA"),
        ("DHE-RSA-AES256-SHA256", "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256"),
        ("ECDHE-ECDSA-AES128-CCM8", "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"),
        ("DES-CBC3-SHA", ""),
        ("(NONE)", ""),
        ("", ""),
    ],
)
def test_names_of_openssl_are_those_of_iana(openssl: str, iana: str) -> None:
    assert iana_name(openssl) == iana


def test_most_suites_that_may_be_offered_have_a_name() -> None:
    names = [str(one["name"]) for one in ssl.create_default_context().get_ciphers()]
    assert all(map(iana_name, names))
    assert len({iana_name(name) for name in names}) == len(names)
