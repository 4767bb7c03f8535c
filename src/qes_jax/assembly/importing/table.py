"""How well the recordings of a folder become motions of the character."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from qes_jax.assembly.importing.options import TableOptions
from qes_jax.files import check_target
from qes_jax.motion.fit_report import quick_labels, report
from qes_jax.motion.formats.gltf import clip_names
from qes_jax.motion.formats.gltf_file import is_gltf, read_document
from qes_jax.motion.formats.read import FORMATS, Choices, read_recording
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.retarget import retarget
from qes_jax.runs.folder import write_json, write_text

COLUMNS = (  # heading, key of the report, digits, bar
    ("seconds", "seconds", 1, None),
    ("height m", "height", 2, None),
    ("scaled by", "scale", 2, None),
    ("raised cm", "lift_cm", 1, None),
    ("joints cm, mean", "joint_error_cm", 1, 3.0),
    ("p95", "joint_p95_error_cm", 1, None),
    ("points cm, mean", "mean_error_cm", 1, 3.0),
    ("p95", "p95_error_cm", 1, None),
    ("skate cm/frame", "foot_skate_cm", 2, 1.0),
    ("slide cm/stance", "stance_slide_cm", 2, None),
    ("floor cm", "floor_penetration_cm", 1, 1.0),
    ("boxes cm", "object_penetration_cm", 1, 2.0),
    ("touches", "touches", 0, None),
    ("kept %", "touches_kept_percent", 0, None),
    ("peak rad/s²", "peak_acceleration", 0, 1000.0),
    ("CPU s per 30 s", "cpu_per_30_s", 0, 30.0),
)
TEXT = """# Retargeting

How well recordings become motions of the character. Made by `{command}`; the recordings are not part of this
repository. Bold figures miss their bar. The solver's weights and thresholds were chosen on these same recordings.

{table}

- **height, scaled by**: the character is as tall as the subject, by the lengths of the bones. Where that is not between
  1.4 and 2.0 m the recording is scaled uniformly. Where a figure has a bone that is a third longer or shorter than
  the character's beside its legs, all its bones are first given the character's proportions, their directions kept:
  those marked \\*. A walk on the spot (Walking_A) is made to get along.
- **raised**: how much higher the fit found the recording to be meant, in the mean: its floor is rarely where its feet
  stand. A body that hovers for longer than a jump lasts is brought down, as one that lies on a cartoon's fat back, or
  walks on ground that the scene does not have (03_01). Distances below are to the recording as scaled, raised and,
  where marked \\*, with the changed bones.
- **joints**: distances of the limbs' recorded joints (shoulders, elbows, wrists, hips, knees, ankles, balls of the
  feet) to the character's own, which has one set of proportions for everyone. Bar: 3 cm in the mean. With its own
  bones the iClone rig would miss it by half a centimetre (131_01 would have 2.8 cm): it has the legs of someone of
  2.0 m and the upper arms of someone of 1.5 m.
- **points**: distances of all recorded points, trunk and head among them, to the places on the links that stand for
  them. Those places are fitted to the subject, as skeletons differ in where they put joints. Bar: 3 cm in the mean.
- **skate**: how far a foot that stands slips from one frame to the next (36 a second), by its touching corner that
  slips least. Bar: 1 cm. **slide**: that summed over a stance of a tenth of a second or more, the mean of all.
- **floor, boxes**: the deepest overlap of all frames. Bars: 1 and 2 cm.
- **touches, kept**: how often a hand, a foot or a knee rests on a box in the recording, and the share of those frames
  in which the character's is within 2 cm of the same box. A hand is seen to rest by its fingers: where only wrists are
  recorded, as in a BVH of our own export, there are fewer touches (seq_0, exported and imported again: 12).
- **peak**: the largest acceleration of any hinge. Bar: 1000 rad/s², our choice: a limb that turns at 14 rad/s, as fast
  as in a kick, and is stopped within one frame has half of that; a hinge that flips has more.
- **CPU**: processor time of one core that fitting takes for 30 s of motion. Bar: 30 s.
"""


def retarget_all(options: TableOptions) -> None:
    """Retarget and measure every recording; print, and write what was asked for."""
    check_target(options.json, options.out)
    if not options.folder.is_dir():
        raise NotADirectoryError(f"{options.folder}: no folder of recordings")
    rows = {}
    for name, path, objects, clip in recordings(options):
        try:
            rows[name] = measure(name, path, objects, clip)
        except RecordingError as error:
            print(f"left out: {error}", file=sys.stderr, flush=True)
            continue
        print(f"{name:34}", *(f"{h} {_cell(rows[name], k, d, b)}," for h, k, d, b in COLUMNS), flush=True)
    if not rows:
        raise FileNotFoundError(f"{options.folder}: no recording that can be read")
    if options.json:
        write_json(options.json, rows)
    if options.out:
        command = "python experiments/retarget_table.py FOLDER --out docs/retargeting.md"
        write_text(options.out, TEXT.format(command=command, table=table(rows)))


def recordings(options: TableOptions) -> Iterator[tuple[str, Path, tuple[Path, ...], str | None]]:
    """Name, file, objects and clip of all recordings in a folder."""
    files = sorted(p for p in options.folder.rglob("*") if p.is_file() and any(f.looks(p) for f in FORMATS))
    for path in files:
        alone = sum(p.parent == path.parent for p in files) == 1
        place = path.relative_to(options.folder).parent
        stem = path.stem if sum(p.with_suffix("") == path.with_suffix("") for p in files) == 1 else path.name
        for clip in _clips(path, options.clips):
            name = str(place / clip if clip else place if alone and place.name else place / stem)
            if not options.only or any(word in name for word in options.only):
                yield name, path, tuple(sorted(path.parent.glob("*.obj"))), clip


def _clips(path: Path, wanted: tuple[str, ...]) -> list[str] | list[None]:
    """Those motions of a file that are wanted; None, for its only one, where there is none of these names."""
    try:
        names = clip_names(read_document(path)) if is_gltf(path) else ()
    except RecordingError:  # as reading the motion will tell
        names = ()
    return [c for c in names if c in wanted] or [None]


def measure(name: str, path: Path, objects: tuple[Path, ...], clip: str | None) -> dict[str, float]:
    """A recording's report, and what the fit took."""
    recording = read_recording(path, objects, Choices(clip=clip))[1]
    began = time.process_time()
    fit = retarget(recording, name)
    cpu = time.process_time() - began
    facts = {"seconds": recording.duration, "height": fit.height, "scale": fit.scale}
    facts |= {"lift_cm": 100 * float(fit.lift.mean()), "rebuilt": recording.rebuilt}
    result = facts | report(fit, quick_labels(fit))
    if "touches_kept" in result:
        result["touches_kept_percent"] = 100 * result["touches_kept"]
    return result | {"cpu_per_30_s": 30 * cpu / recording.duration}


def table(rows: dict[str, dict[str, float]]) -> str:
    """The figures as Markdown; those beyond a bar are bold."""
    lines = ["| recording | " + " | ".join(h for h, *_ in COLUMNS) + " |", "|---|" + "---|" * len(COLUMNS)]
    for name, row in rows.items():
        mark = " \\*" if row["rebuilt"] else ""
        lines.append(f"| {name}{mark} | " + " | ".join(_cell(row, k, d, b) for _, k, d, b in COLUMNS) + " |")
    return "\n".join(lines)


def _cell(row: dict[str, float], key: str, digits: int, bar: float | None) -> str:
    if key not in row:
        return ""
    text = f"{row[key]:.{digits}f}"
    return f"**{text}**" if bar and row[key] > bar else text
