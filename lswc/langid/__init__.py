"""Language of a page: bytes and headers in; language, encoding, links and anchors out."""

from lswc.langid.document import Identification
from lswc.langid.identifier import (
    METHODS,
    Identifier,
    IdentifierError,
    Reading,
)

__all__ = ["METHODS", "Identification", "Identifier", "IdentifierError", "Reading"]
