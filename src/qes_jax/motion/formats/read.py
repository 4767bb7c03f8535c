"""Any recording, its format told from its content, and from its name's end where content does not tell."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from qes_jax.motion.formats.amass import is_amass, read_amass
from qes_jax.motion.formats.asf_amc import is_amc, read_amc
from qes_jax.motion.formats.body import as_recording
from qes_jax.motion.formats.boxes import read_box
from qes_jax.motion.formats.bvh import is_bvh, read_bvh
from qes_jax.motion.formats.deepmimic import is_deepmimic, read_deepmimic
from qes_jax.motion.formats.gltf import read_gltf
from qes_jax.motion.formats.gltf_file import is_gltf
from qes_jax.motion.formats.hints import hint
from qes_jax.motion.formats.holosoma import is_holosoma, read_holosoma
from qes_jax.motion.formats.maps import NEEDED, Roles, check_roles, find_roles, read_roles
from qes_jax.motion.formats.points import is_points, read_points
from qes_jax.motion.formats.recording import Recording, RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, repeated
from qes_jax.motion.ground import check_person, grounded
from qes_jax.motion.proportions import proportioned


@dataclass(frozen=True)
class Choices:
    """What a user may say of a file beyond what it says itself. Readers take what concerns them."""

    repeat: int = 1  # times to go through a cyclic motion
    skeleton: Path | None = None  # an AMC's ASF
    clip: str | None = None  # of a file with several
    up: str | None = None  # "x", "y", "z"
    unit: float | None = None  # [m]
    fps: float | None = None  # [Hz]
    joints: Path | None = None  # what joint points are called
    floor: float | None = None  # [m] its height in the file
    root_offset: str | None = None  # "add", "ignore": what a BVH's root does with its OFFSET


@dataclass(frozen=True)
class Format:
    """A format's name, how it is told, how it is read, and which of the choices it takes besides `fps` and `repeat`."""

    name: str
    looks: Callable[[Path], bool]
    read: Callable[[Path, Choices], SkeletonMotion | Recording]
    takes: tuple[str, ...] = ()


POINTS = Format("points (.npy or .npz, with a joint list)", is_points,
                lambda path, c: read_points(path, c.joints, c.fps, c.up, c.unit), ("joints", "up", "unit"))  # fmt: skip
FORMATS = (
    Format("BVH", is_bvh, lambda path, c: read_bvh(path, c.unit, c.up, c.root_offset), ("up", "unit", "root_offset")),
    Format("ASF/AMC", is_amc, lambda path, c: read_amc(path, c.skeleton, c.up, c.unit), ("skeleton", "up", "unit")),
    Format("glTF", is_gltf, lambda path, c: read_gltf(path, c.clip, c.up, c.unit), ("clip", "up", "unit")),
    Format("AMASS (.npz)", is_amass, lambda path, c: read_amass(path, c.fps, c.up, c.unit), ("up", "unit")),
    Format("DeepMimic (JSON)", is_deepmimic, lambda path, _: read_deepmimic(path)),
    POINTS,
    Format("holosoma_climb (.npy of joint points)", is_holosoma, lambda path, _: read_holosoma(path)),
)


def read_motion(path: str | Path, choices: Choices = Choices()) -> tuple[str, SkeletonMotion | Recording]:
    """Name of the format, and the motion as its reader gives it. Raises RecordingError."""
    path = Path(path)
    if path.is_dir():
        raise RecordingError(f"{path}: is a folder, expected one recording")
    if not path.is_file():
        raise RecordingError(f"{path}: no such file")
    for form in FORMATS if choices.joints is None else (POINTS,):
        if form.looks(path) or choices.joints:
            _check_taken(path, form, choices)
            motion = form.read(path, choices)
            if isinstance(motion, SkeletonMotion):
                motion = repeated(motion, choices.repeat)
            elif choices.repeat > 1:
                raise RecordingError(f"{path}: --repeat is for skeletons' motions that end as they began")
            return _short(form), motion
    known = ", ".join(f.name for f in FORMATS)
    raise RecordingError(f"{path}: {hint(path) or f'unknown format, expected one of: {known}'}")


def _check_taken(path: Path, form: Format, choices: Choices) -> None:
    """Raise RecordingError at a choice that this format would not heed."""
    for field in ("skeleton", "clip", "up", "unit", "joints", "root_offset"):
        if getattr(choices, field) is not None and field not in form.takes:
            raise RecordingError(
                f"{path}: --{field.replace('_', '-')} cannot be chosen for {_short(form)}, only for {_takers(field)}"
            )


def _takers(field: str) -> str:
    return ", ".join(_short(form) for form in FORMATS if field in form.takes)


def _short(form: Format) -> str:
    return form.name.partition(" ")[0]


class NoRoles(RecordingError):
    """A skeleton whose parts were not all found. `motion` and `roles` tell what was."""

    def __init__(self, motion: SkeletonMotion, roles: Roles) -> None:
        missing = ", ".join(role for role in NEEDED if role not in roles)
        super().__init__(f"{motion.source}: neither names nor shape of its joints tell which are {missing}")
        self.motion, self.roles = motion, roles


def choose_roles(motion: SkeletonMotion, file: Path | None = None) -> tuple[Roles, str]:
    """Which joints are which parts, and how that is known. Raises NoRoles, or RecordingError at a wrong map file."""
    if file:
        roles = read_roles(file)
        check_roles(motion, roles, str(file))
        return roles, "map file"
    roles, how = find_roles(motion)
    if not how:
        raise NoRoles(motion, roles)
    return roles, how


def read_recording(
    path: str | Path, objects: tuple[Path, ...] = (), choices: Choices = Choices()
) -> tuple[str, Recording]:
    """Name of the format, and the recording with boxes from OBJ files. Raises RecordingError."""
    name, motion = read_motion(path, choices)
    recording = body_of(motion, choose_roles(motion)[0]) if isinstance(motion, SkeletonMotion) else motion
    check_person(recording)
    recording = replace(recording, fps=choices.fps or recording.fps, pieces=tuple(read_box(o) for o in objects))
    return name, grounded(recording, choices.floor)[0]


def body_of(motion: SkeletonMotion, roles: Roles) -> Recording:
    """A skeleton's motion as points, its bones of the character's proportions. Raises RecordingError at no person's."""
    every = len(motion.pos) // 20 + 1
    check_person(as_recording(replace(motion, pos=motion.pos[::every], quat=motion.quat[::every]), roles))
    motion, rebuilt = proportioned(motion, roles)
    return replace(as_recording(motion, roles), rebuilt=rebuilt)
