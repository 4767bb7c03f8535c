"""glTF animations: containers, accessors, interpolation and node trees against SciPy and pygltflib; garbage."""

import json

import numpy as np
import pygltflib as g
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from qes_jax.motion.formats.gltf import clip_names, read_gltf
from qes_jax.motion.formats.gltf_file import accessor, is_gltf, read_document
from qes_jax.motion.formats.gltf_tracks import Track, sample
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import forward, rest
from tests.motion.gltf_files import Builder

TIMES = np.arange(13) / 24
Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # turns Y up into Z up


def turns(rng: np.random.Generator, count: int) -> np.ndarray:
    return Rotation.from_rotvec(rng.normal(0, 1, (count, 3))).as_quat()


def a_walker(seed: int = 0) -> Builder:
    """Armature of scale 0.01 with hips, a leg given by a matrix, a foot; hips and foot move. And a lone camera."""
    rng, b = np.random.default_rng(seed), Builder()
    b.node(name="Armature", scale=[0.01] * 3, rotation=[-0.5, 0.5, 0.5, 0.5], children=[1])
    b.node(name="Hips", translation=[0, 90, 0], children=[2])
    matrix = np.eye(4)
    matrix[:3, :3] = 2.0 * Rotation.from_rotvec([0.3, 0.2, 0.1]).as_matrix()
    matrix[:3, 3] = [10, 0, 5]
    b.node(name="Leg", matrix=matrix.T.ravel().tolist(), children=[3])
    b.node(name="Foot", translation=[0, -20, 0])
    b.node(name="Camera")
    count = len(TIMES)
    b.clip("walk", [
        (1, "translation", "LINEAR", TIMES, rng.normal(0, 9, (count, 3))),
        (1, "rotation", "LINEAR", TIMES, turns(rng, count)),
        (3, "rotation", "LINEAR", TIMES, turns(rng, count)),
    ])  # fmt: skip
    b.clip("still", [(1, "translation", "STEP", np.array([0.5]), np.ones((1, 3)))])
    return b


def world_by_matrices(builder: Builder, keys: int) -> np.ndarray:
    """(keys, 4, 3) places of the walker's first four nodes, Z up, from 4x4 matrices."""
    b, places = builder.gltf, []
    data = [
        np.frombuffer(builder.data, "<f4", b.accessors[s.output].count * n, b.bufferViews[s.output].byteOffset)
        for s, n in zip(b.animations[0].samplers, (3, 4, 4), strict=True)
    ]
    for k in range(keys):
        world, row = np.eye(4), []
        for number in range(4):
            node, local = b.nodes[number], np.eye(4)
            turn = node.rotation or [0, 0, 0, 1]
            turn = data[1].reshape(-1, 4)[k] if number == 1 else data[2].reshape(-1, 4)[k] if number == 3 else turn
            local[:3, :3] = Rotation.from_quat(turn).as_matrix() * (node.scale or [1, 1, 1])
            local[:3, 3] = data[0].reshape(-1, 3)[k] if number == 1 else node.translation or [0, 0, 0]
            world = world @ (np.array(node.matrix).reshape(4, 4).T if node.matrix else local)
            row.append(Z_UP @ world[:3, 3])
        places.append(row)
    return np.array(places)


@pytest.mark.parametrize("container", ["glb", "gltf", "files"])
def test_joints_stand_where_the_matrices_put_them(tmp_path, container) -> None:
    builder = a_walker()
    path = builder.save(tmp_path, container)
    assert is_gltf(path)
    motion = read_gltf(path, "walk")
    assert motion.joints == ("Armature", "Hips", "Leg", "Foot") and motion.up == "y"
    assert motion.fps == pytest.approx(24.0) and len(motion.quat) == len(TIMES)
    np.testing.assert_allclose(forward(motion)[0], world_by_matrices(builder, len(TIMES)), atol=1e-6)
    np.testing.assert_allclose(rest(motion)[0][1], Z_UP @ Rotation.from_quat([-0.5, 0.5, 0.5, 0.5]).apply([0, 0.9, 0]))


def test_a_skin_says_which_nodes_are_joints(tmp_path) -> None:
    builder = a_walker()
    whole = forward(read_gltf(builder.save(tmp_path), "walk"))[0]
    builder.gltf.skins.append(g.Skin(joints=[3, 1]))
    motion = read_gltf(builder.save(tmp_path), "walk")
    assert motion.joints == ("Hips", "Foot") and motion.parents == (-1, 0)
    np.testing.assert_allclose(forward(motion)[0], whole[:, [1, 3]], atol=1e-9)


def test_clips_are_chosen_by_name(tmp_path) -> None:
    path = a_walker().save(tmp_path)
    assert clip_names(read_document(path)) == ("walk", "still")
    assert len(read_gltf(path, "still").quat) == 1
    for wanted in (None, "run"):
        with pytest.raises(RecordingError, match=r"motion\.glb: .*, choose by --clip one of: walk, still"):
            read_gltf(path, wanted)


def test_a_file_that_is_not_y_up_or_not_in_metres_may_be_told_of(tmp_path) -> None:
    path = a_walker().save(tmp_path)
    as_said, told = read_gltf(path, "walk"), read_gltf(path, "walk", up="z", unit=0.01)
    assert (told.up, told.unit) == ("z", 0.01)
    np.testing.assert_allclose(forward(as_said)[0], 100 * forward(told)[0] @ Z_UP.T, atol=1e-6)


def test_an_only_clip_needs_no_name_and_names_are_made_distinct(tmp_path) -> None:
    builder = a_walker()
    builder.gltf.animations.pop()
    builder.gltf.animations[0].name = None
    builder.gltf.nodes[2].name = "Hips"
    builder.gltf.nodes[3].name = None
    motion = read_gltf(builder.save(tmp_path))
    assert motion.joints == ("Armature", "Hips", "Hips#2", "node3")
    assert clip_names(read_document(builder.save(tmp_path))) == ("clip0",)


KEYS = np.array([0.0, 0.1, 0.5, 1.2])
BETWEEN = np.linspace(-0.2, 1.4, 33)


def test_rotations_go_the_shorter_way_at_even_speed() -> None:
    quat = turns(np.random.default_rng(1), 4)
    quat[2] *= -1
    found = sample(Track(0, "rotation", "LINEAR", KEYS, quat[:, [3, 0, 1, 2]]), BETWEEN)
    expected = Slerp(KEYS, Rotation.from_quat(quat))(np.clip(BETWEEN, 0, 1.2))
    apart = Rotation.from_quat(found, scalar_first=True).inv() * expected
    assert apart.magnitude().max() < 1e-7


def test_a_cubic_spline_is_hermites() -> None:
    values = np.random.default_rng(2).normal(size=(4, 3, 3))
    found = sample(Track(0, "translation", "CUBICSPLINE", KEYS, values), BETWEEN)
    for gap in range(3):  # tangents before and after a key differ, so gap by gap
        inside = (np.searchsorted(KEYS, BETWEEN, "right") - 1 == gap) & (KEYS[-1] >= BETWEEN)
        slopes = values[gap, 2], values[gap + 1, 0]
        spline = CubicHermiteSpline(KEYS[gap : gap + 2], values[gap : gap + 2, 1], np.array(slopes))
        np.testing.assert_allclose(found[inside], spline(BETWEEN[inside]), atol=1e-12)


def test_steps_hold_and_lines_are_straight() -> None:
    values = np.arange(12.0).reshape(4, 3) ** 2
    step = sample(Track(0, "scale", "STEP", KEYS, values), BETWEEN)
    np.testing.assert_array_equal(step, values[np.clip(np.searchsorted(KEYS, BETWEEN, "right") - 1, 0, 3)])
    line = sample(Track(0, "scale", "LINEAR", KEYS, values), BETWEEN)
    np.testing.assert_allclose(line[:, 1], np.interp(BETWEEN, KEYS, values[:, 1]))


def test_accessors_may_be_integers_strided_or_sparse(tmp_path) -> None:
    builder = a_walker()
    fractions = builder.accessor(np.array([[-128, 127, 0], [64, 0, 0]]), "i1", normalized=True)
    rows = np.arange(24, dtype="<f4").reshape(4, 6)
    view = builder.view(rows.tobytes(), byteStride=24)
    fields = {"componentType": g.FLOAT, "type": "VEC3"}
    builder.gltf.accessors.append(g.Accessor(bufferView=view, byteOffset=12, count=4, **fields))
    places, values = builder.view(np.array([2, 5], "<u2").tobytes()), builder.view(rows[:1].tobytes())
    sparse = g.Sparse(
        count=2,
        indices=g.AccessorSparseIndices(bufferView=places, componentType=g.UNSIGNED_SHORT),
        values=g.AccessorSparseValues(bufferView=values),
    )
    builder.gltf.accessors.append(g.Accessor(bufferView=None, count=6, sparse=sparse, **fields))
    document = read_document(builder.save(tmp_path))
    np.testing.assert_allclose(accessor(document, fractions), [[-1, 1, 0], [64 / 127, 0, 0]])
    np.testing.assert_array_equal(accessor(document, fractions + 1), rows[:, 3:])
    expected = np.zeros((6, 3))
    expected[[2, 5]] = rows[0].reshape(2, 3)
    np.testing.assert_array_equal(accessor(document, fractions + 2), expected)


@pytest.fixture(scope="module")
def walker(tmp_path_factory) -> dict[str, bytes]:
    """The walker's file, with a skin, in two containers."""
    folder, builder = tmp_path_factory.mktemp("walker"), a_walker()
    inverse = np.tile(np.eye(4).ravel(), (3, 1))
    builder.gltf.skins.append(g.Skin(joints=[1, 2, 3], inverseBindMatrices=builder.accessor(inverse)))
    return {c: builder.save(folder, c).read_bytes() for c in ("glb", "gltf")}


def changed(walker: dict[str, bytes], change) -> bytes:
    """The walker as JSON text with `change` made to it."""
    tree = json.loads(walker["gltf"])
    change(tree)
    return json.dumps(tree).encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("asset"), "field asset is missing"),
        (lambda t: t["asset"].update(version="1.0"), "asset.version: '1.0'"),
        (lambda t: t.update(nodes=3), "field nodes is not a list"),
        (lambda t: t.pop("animations"), "field animations: there are none"),
        (lambda t: t["nodes"][3].update(children=[9]), r"nodes\[3\]: child 9 does not exist, there are 5"),
        (lambda t: t["nodes"][3].update(children=[1]), "another parent"),
        (lambda t: (t["nodes"][0].pop("children"), t["nodes"][3].update(children=[1])), "their own ancestors"),
        (lambda t: t["nodes"][1].update(rotation=[0, 0, 0, 0]), r"nodes\[1\]: a rotation is a zero"),
        (lambda t: t["nodes"][1].update(translation=[1, 2]), r"nodes\[1\]"),
        (lambda t: t["buffers"][0].update(uri="../motion.bin"), r"buffers\[0\]: .* does not lie beside"),
        (lambda t: t["buffers"][0].update(uri="none.bin"), r"buffers\[0\]: .*No such file"),
        (lambda t: t["buffers"][0].update(uri="data:;base64,AAAA"), r"buffers\[0\]: holds 3 bytes"),
        (lambda t: t["accessors"][1].update(count=10**9), r"accessors\[1\]: count is"),
        (lambda t: t["accessors"][1].update(count=99), r"accessors\[1\]: .* do not fit"),
        (lambda t: t["accessors"][1].update(type="VEC4"), r"accessors\[1\]"),
        (lambda t: t["accessors"][1].update(bufferView=-1), "buffer view -1 does not exist"),
        (lambda t: t["animations"][0]["channels"][1].update(sampler=7), r"animations\[0\].channels\[1\]: sampler 7"),
        (lambda t: t["animations"][0]["samplers"][0].update(interpolation="MAGIC"), "interpolation 'MAGIC'"),
        (lambda t: t["animations"][0]["samplers"][0].update(input=1), "values of shape|do not increase"),
        (lambda t: t["animations"][0].pop("samplers"), r"animations\[0\]: 'samplers' is missing"),
        (lambda t: t["animations"][0].update(channels=[]), "moves no node"),
    ],
)
def test_an_error_names_the_place(tmp_path, walker, change, message) -> None:
    path = tmp_path / "broken.gltf"
    path.write_bytes(changed(walker, change))
    with pytest.raises(RecordingError, match=message) as caught:
        read_gltf(path, "walk")
    assert "broken.gltf" in str(caught.value)


@settings(max_examples=150, deadline=None)
@given(at=st.integers(0, 10**6), noise=st.binary(min_size=1, max_size=12), cut=st.booleans(), binary=st.booleans())
def test_garbage_is_read_or_refused(tmp_path_factory, walker, at, noise, cut, binary) -> None:
    container = "glb" if binary else "gltf"
    path, content = tmp_path_factory.mktemp("gltf") / f"noisy.{container}", bytearray(walker[container])
    at %= len(content)
    content[at : len(content) if cut else at + len(noise)] = noise
    path.write_bytes(content)
    try:
        motion = read_gltf(path, "walk")
        assert np.isfinite(motion.pos).all()
    except RecordingError as error:
        assert path.name in str(error)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@example(where=2216, value=1.3407807929942597e154)  # a rotation whose square overflows
@given(where=st.integers(0, 10**4), value=JSON)
def test_any_value_in_any_place_is_read_or_refused(tmp_path_factory, walker, where, value) -> None:
    def change(tree) -> None:
        places = [(tree, k) for k in tree if k != "buffers"]
        for parent, key in places:  # it grows as we go
            child = parent[key]
            keys = child if isinstance(child, dict) else range(len(child)) if isinstance(child, list) else ()
            places += [(child, k) for k in keys]
        parent, key = places[where % len(places)]
        parent[key] = value

    path = tmp_path_factory.mktemp("gltf") / "odd.gltf"
    path.write_bytes(changed(walker, change))
    try:
        read_gltf(path, "walk")
    except RecordingError as error:
        assert "odd.gltf" in str(error)


def test_the_knights_clips(recordings) -> None:
    path = recordings / "kaykit" / "Knight.glb"
    names = clip_names(read_document(path))
    assert len(names) == 76 and {"Sit_Chair_Down", "Walking_A", "Lie_StandUp"} <= set(names)
    motion = read_gltf(path, "Walking_A")
    assert motion.fps == pytest.approx(30.0) and 1.0 < motion.duration < 1.2
    place = forward(motion)[0]
    feet = [motion.index("foot.l"), motion.index("foot.r")]
    apart = place[:, feet[0]] - place[:, feet[1]]
    assert np.ptp(apart[:, 1]) > 0.3 and place[:, feet, 2].min() > 0.0  # it faces -Y, and stays above the floor
    lying = forward(read_gltf(path, "Lie_StandUp"))[0][:, motion.index("head"), 2]
    assert lying[0] < 0.5 < 1.0 < lying[-1]


def test_a_skin_tells_the_rest_pose_where_nodes_do_not(tmp_path) -> None:
    builder, joints = a_walker(), [1, 2, 3]
    bound = [np.diag([2.0, 2, 2, 1]) for _ in joints]  # of any size, for what was bound may have been scaled since
    for k, place in enumerate([(0, 90, 0), (0, 50, 0), (0, 10, 5)]):
        bound[k][:3, 3] = place
    inverse = np.linalg.inv(np.array(bound)).swapaxes(1, 2).reshape(-1, 16)
    builder.gltf.skins.append(g.Skin(joints=joints, inverseBindMatrices=builder.accessor(inverse)))
    motion = read_gltf(builder.save(tmp_path), "walk")
    turn = Rotation.from_matrix(Z_UP) * Rotation.from_quat([-0.5, 0.5, 0.5, 0.5])
    down = turn.apply(np.diff([(0, 90, 0), (0, 50, 0), (0, 10, 5)], axis=0)) * 0.01 / 2.0
    np.testing.assert_allclose(np.diff(rest(motion)[0], axis=0), down, atol=1e-7)
    still = read_gltf(a_walker().save(tmp_path), "walk")
    np.testing.assert_allclose(forward(motion)[0], forward(still)[0][:, 1:], atol=1e-9)


@pytest.mark.filterwarnings("error")
def test_a_skin_of_no_size_is_left_as_its_nodes_stand(tmp_path) -> None:
    builder, joints = a_walker(), [1, 2, 3]
    inverse = np.tile(np.eye(4).ravel(), (3, 1))
    builder.gltf.skins.append(g.Skin(joints=joints, inverseBindMatrices=builder.accessor(inverse)))
    for node in builder.gltf.nodes:
        node.scale = [0.0, 0.0, 0.0]
    assert np.isfinite(rest(read_gltf(builder.save(tmp_path), "walk"))[0]).all()


@pytest.mark.parametrize("back", [True, False])
def test_a_clip_that_comes_back_is_cyclic(tmp_path, back) -> None:
    builder, quat = a_walker(), turns(np.random.default_rng(3), len(TIMES))
    quat[-1] = quat[0] if back else quat[-1]
    builder.clip("turn", [(2, "translation", "LINEAR", TIMES, np.zeros((len(TIMES), 3))),
                          (3, "rotation", "LINEAR", TIMES, quat)])  # fmt: skip
    assert read_gltf(builder.save(tmp_path), "turn").cyclic is back
