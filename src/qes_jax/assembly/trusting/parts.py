"""The campaign's parts, by the names that the command line has for them."""

from typing import Literal

Part = Literal["readers"]
