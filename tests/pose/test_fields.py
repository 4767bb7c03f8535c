"""What is meant when one of the editor's three fields is typed into."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from qes_jax.assembly.editor.fields import as_numbers, from_numbers, typed


def test_only_what_was_typed_is_taken_also_when_the_page_still_shows_the_joint_before() -> None:
    before, now = (0.1, 0.2, 0.3), (1.0, 2.0, 3.0)
    assert typed((1.0, 2.0, 9.0), [before, now]) == (None, None, 9.0)
    assert typed((0.1, 0.2, 9.0), [before, now]) == (None, None, 9.0)
    assert typed(now, [before, now]) == (None, None, None)


@pytest.mark.parametrize("kind", ["position", "rotation"])
def test_numbers_come_back_as_the_pose_they_show(kind: str) -> None:
    place, turn = np.array([0.12345, -0.5, 1.2]), Rotation.from_euler("xyz", [10.04, 20.0, -30.0], degrees=True)
    quat = turn.as_quat(scalar_first=True)
    shown = as_numbers(kind, place, quat)
    back, turned = from_numbers(kind, (None, shown[1], None), place, quat)
    np.testing.assert_allclose(back, place, atol=1e-9)
    assert (turn * Rotation.from_quat(turned, scalar_first=True).inv()).magnitude() < 1e-6
