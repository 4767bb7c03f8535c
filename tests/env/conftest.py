"""One compiled task for all tests of the environment."""

import pytest

from tests.env.standing import Lab


@pytest.fixture(scope="session")
def lab() -> Lab:
    return Lab()
