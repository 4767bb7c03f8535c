"""A campaign of bad luck and bad input: spoilt files for every reader, and what came of them."""
