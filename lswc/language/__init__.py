"""Language of a page: bytes and headers in; language, encoding, links and anchors out."""

from lswc.language.document import Identification
from lswc.language.identifier import METHODS, Identifier, IdentifierError, Reading

__all__ = ["METHODS", "Identification", "Identifier", "IdentifierError", "Reading"]
