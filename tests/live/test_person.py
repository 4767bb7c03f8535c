"""Three seconds of the A-pose give back size, arms and grip of whoever stood there."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from qes_jax.live.person import CalibrationError, Person, hands, load_person, measure, people, save_person
from tests.live.people import FIGURE, user


def stood(frames: int = 36, sway: float = 0.004, **more) -> tuple[np.ndarray, np.ndarray]:
    pos, quat = user(**more)
    rng = np.random.default_rng(1)
    return pos + rng.normal(scale=sway, size=(frames, 3, 3)), np.tile(quat, (frames, 1, 1))


@pytest.mark.parametrize("scale", [0.85, 1.0, 1.15])
@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_a_measured_user_stands_exactly_as_the_character(scale: float, yaw: float) -> None:
    grip = Rotation.from_euler("xyz", [20, -35, 10], degrees=True)
    shape = {"scale": scale, "arms": 1.1, "grip": grip, "yaw": yaw, "at": (3.0, -2.0)}
    person = measure("anna", FIGURE, *stood(**shape))
    assert person.eye_height == pytest.approx(scale * FIGURE.eye_height, abs=0.01)
    assert person.arms == pytest.approx(1.1, abs=0.02)
    pos, quat = user(**shape)
    stance = FIGURE.stance(person, pos[0], quat[0])
    at, turned = stance.to_scene(*hands(person, pos, quat))
    np.testing.assert_allclose(at, FIGURE.pos - [*FIGURE.pos[0, :2], 0], atol=0.02)
    away = Rotation.from_quat(turned, scalar_first=True).inv() * Rotation.from_quat(FIGURE.quat, scalar_first=True)
    assert away.magnitude().max() < 0.01


def test_a_controllers_place_across_the_arm_is_its_grip() -> None:
    offset = (0.04, 0.0, 0.0)  # towards the thumb, across the arm
    person = measure("anna", FIGURE, *stood(offset=offset))
    np.testing.assert_allclose(person.offset, [offset] * 2, atol=0.01)
    assert person.arms == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    ("more", "words"),
    [({"sway": 0.1}, "stand still"), ({"scale": 0.4}, "above the floor"), ({"arms": 0.6}, "hands are not"),
     ({"grip": Rotation.from_euler("x", 120, degrees=True)}, "controller is turned")],
)  # fmt: skip
def test_a_pose_that_is_none_is_refused_and_says_what_to_do(more: dict, words: str) -> None:
    with pytest.raises(CalibrationError, match=words):
        measure("anna", FIGURE, *stood(**more))


def test_a_measured_floor_counts(tmp_path) -> None:
    pos, quat = stood()
    person = measure("anna", FIGURE, pos + np.array([0, 0, 0.3]), quat, floor=0.3)
    assert person.eye_height == pytest.approx(FIGURE.eye_height, abs=0.01)
    save_person(tmp_path, person)
    assert load_person(tmp_path, "anna") == person
    assert people(tmp_path) == ["anna"]


@pytest.mark.parametrize("name", ["../anna", "a b", "", "A", "a" * 33, "nul\0", ".anna", None, 3])
def test_a_name_is_no_path(tmp_path, name) -> None:
    with pytest.raises(ValueError, match="name"):
        load_person(tmp_path, name)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"eye_height": 1e999}', '{"eye_height": "x"}', '{"turn": [[1, 0, 0, 0]]}', '{"height": 1}',
     '{"arms": 9}', '{"turn": [[2, 0, 0, 0], [1, 0, 0, 0]]}'],
)  # fmt: skip
def test_a_broken_file_is_named(tmp_path, text: str) -> None:
    (tmp_path / "anna.json").write_text(text)
    with pytest.raises(ValueError, match=r"anna\.json"):
        load_person(tmp_path, "anna")


def test_a_guest_needs_no_measures() -> None:
    pos, quat = user()
    at, turned = hands(Person(), pos, quat)
    np.testing.assert_allclose(at, pos, atol=1e-9)
    np.testing.assert_allclose(turned, quat, atol=1e-9)
