"""The work behind import_motion.py."""

import dataclasses
import math
import time

from qes_jax.assembly.importing.options import Options
from qes_jax.files import check_target
from qes_jax.model.scene import Scene
from qes_jax.model.scene_file import find_scene
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import Clip, load_clip, save_clip
from qes_jax.motion.contacts import correct_contacts
from qes_jax.motion.fit_report import report
from qes_jax.motion.formats.boxes import read_box
from qes_jax.motion.formats.maps import ROLES, write_roles
from qes_jax.motion.formats.read import Choices, NoRoles, body_of, choose_roles, read_motion
from qes_jax.motion.formats.recording import Recording, RecordingError, crop
from qes_jax.motion.formats.skeleton import SkeletonMotion
from qes_jax.motion.ground import check_person, grounded
from qes_jax.motion.retarget import Fit, retarget
from qes_jax.motion.subject import estimate_height
from qes_jax.runs.folder import write_json

THROUGH = 2.0  # [cm]
SUNK = 5.0  # [cm]
FAR = 6.0  # [cm] mean of the joints: more than any body that is merely built otherwise
MOST_REPEATS = 1000  # a typing error would fill the memory


def import_clip(options: Options) -> dict[str, float | str]:
    """Read, fit, label, write and report. Returns the report: see `fit_report`, and the recording's seconds and fps."""
    check_target(options.out, options.json)
    clip, result = read_clip(options)
    save_clip(options.out, clip)
    if options.json:
        write_json(options.json, result)
    return result


def read_clip(options: Options) -> tuple[Clip, dict[str, float | str]]:
    """The clip of a recording, and the report, which is printed; nothing is written but a map file to be filled in."""
    _check(options)
    recording, facts = _read(options)
    print("\n".join(f"{key:>24} {value}" for key, value in facts.items()), flush=True)
    began = time.perf_counter()
    fit = retarget(recording, _scene(options).name, options.height)
    took = time.perf_counter() - began
    print(f"character: {fit.height:.3f} m; recording scaled by {fit.scale:.3f}; fitted in {took:.1f} s", flush=True)
    if fit.speed:
        print(f"a walk on the spot: made to get along at {fit.speed:.2f} m/s")
    clip = _clip(options, fit, recording)
    quality = report(fit, clip.contact)
    doubt = _doubt(quality)
    print("\n".join(f"{key:>24} {value:8.2f}" for key, value in quality.items()))
    if doubt:
        print(f"IN DOUBT: {doubt}")
    return dataclasses.replace(clip, doubt=doubt), facts | quality | {"fit_seconds": took, "doubt": doubt}


def _doubt(quality: dict[str, float]) -> str:
    """What makes the clip one that should not be used unseen, "" for nothing."""
    doubts = []
    if quality["object_penetration_cm"] > THROUGH:
        doubts.append(
            "the motion passes through objects: do they stand where it was made? --scene CLIP puts them there"
        )
    if quality["floor_penetration_cm"] > SUNK:
        doubts.append("the motion passes through the floor: is that where the feet stand (--floor)?")
    if quality["joint_error_cm"] > FAR:
        doubts.append("the character is far from the joints: is the upward axis right (--up), are the parts (--map)?")
    return "; ".join(doubts)


def _check(options: Options) -> None:
    if options.floor is not None and not math.isfinite(options.floor):
        raise ValueError(f"--floor {options.floor}: expected a number")
    for field in ("fps", "unit", "height", "repeat"):
        value = getattr(options, field)
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"--{field} {value}: expected a positive number")
    if options.repeat > MOST_REPEATS:
        raise ValueError(f"--repeat {options.repeat}: expected at most {MOST_REPEATS}")


def _scene(options: Options) -> Scene:
    """The scene that was named, or the boxes given."""
    if options.scene and options.objects:
        raise ValueError("give --objects or --scene, not both")
    if not options.scene:
        return Scene(options.name or options.file.stem, tuple(read_box(o) for o in options.objects))
    return load_clip(options.scene).scene if options.scene.endswith(".npz") else find_scene(options.scene)


def _read(options: Options) -> tuple[Recording, dict[str, float | str]]:
    """The recording, the part that is wanted of it, and what is to be said of the file."""
    pieces = _scene(options).pieces
    choices = Choices(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Choices)})
    kind, motion = read_motion(options.file, choices)
    recording, facts = _mapped(options, motion) if isinstance(motion, SkeletonMotion) else (motion, _frame(motion))
    check_person(recording)
    recording = dataclasses.replace(recording, fps=options.fps or recording.fps, pieces=pieces)
    recording, floor = grounded(recording, options.floor)
    facts |= {"floor_m": round(floor, 3), "notes": "; ".join(recording.notes)}
    if options.start or options.end is not None:
        recording = crop(recording, options.start, options.end)
    general = {"format": kind, "fps": recording.fps, "seconds": recording.duration, "objects": len(pieces)}
    return recording, general | facts | {"height_by_bones": round(estimate_height(recording), 3)}


def _frame(motion: SkeletonMotion | Recording) -> dict[str, float | str]:
    """The file's upward axis and unit [m], as stated or guessed."""
    return {"up": motion.up, "unit_m": round(motion.unit, 6)}


def _mapped(options: Options, motion: SkeletonMotion) -> tuple[Recording, dict[str, float | str]]:
    """A skeleton's motion as points. Where its parts are not known, a map file is left for the user to fill."""
    try:
        roles, how = choose_roles(motion, options.map)
    except NoRoles as error:
        path = options.out.with_suffix(".map.toml")
        write_roles(path, error.motion, error.roles)
        raise RecordingError(f"{error}; fill in {path} and give it as --map") from None
    mapped = f"{len(roles)} of {len(ROLES)} parts, by {how}, of {len(motion.joints)} joints"
    facts = _frame(motion) | {"mapped": mapped}
    recording = body_of(motion, roles)
    return recording, facts | {"proportions": "made ours" if recording.rebuilt else "kept"}


def _clip(options: Options, fit: Fit, recording: Recording) -> Clip:
    licence = options.licence or recording.licence
    clip = make_clip(options.name or options.file.stem, fit.qpos, fit.scene, fit.height, recording.source, licence)
    if options.corrections:
        clip = dataclasses.replace(clip, contact=correct_contacts(clip.contact, options.corrections, fit.world))
    return clip
