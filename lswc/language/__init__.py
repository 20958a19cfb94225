"""Language of a page: bytes and headers in; language, encoding, links and anchors out."""

from lswc.language.document import Identification
from lswc.language.identifier import Identifier, Reading
from lswc.language.methods import IdentifierError

__all__ = ["Identification", "Identifier", "IdentifierError", "Reading"]
