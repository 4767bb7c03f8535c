"""The page of results: tables from the rows of `control_results.py`, and what fails in plain words."""

from collections import Counter
from typing import Any

import numpy as np

Rows = dict[str, dict[str, Any]]
BAR = 95.0  # [%] of pushes of 20 N s on the walking human that are to be survived
LOW_JUMP = 0.1  # [m] what rises less is hardly a jump


def page(rows: Rows, missing: list[str], quick: bool) -> str:
    """Markdown."""
    parts = [
        "# Controllers: what was measured",
        "Made by `python experiments/control_results.py" + " --quick" * quick + "`, which also writes control.json. "
        "MuJoCo's C engine, control at 250 Hz, physics at 500 Hz. Times are processor times of one core; other work "
        "on the machine makes them longer.",
        f"**Not measured yet**, rows: {', '.join(grouped(missing))}. The same command goes on." if missing else "",
        "## What fails", "\n".join(f"- {line}" for line in failures(rows)) or "Nothing that is measured here.",
        "## Walking from standing", walks(rows),
        "## The gait of the normal walk", gait(rows),
        "## Standing jump", jumps(rows),
        "## Strict against weighted priorities", compared(rows),
        "## Slopes", slopes(rows),
        "## Pushes", pushes(rows),
    ]  # fmt: skip
    return "\n\n".join(p for p in parts if p)


def grouped(names: list[str]) -> list[str]:
    """Names that differ in the last part alone as one, with their number."""
    count = Counter(name.rsplit("/", 1)[0] for name in names)
    return [f"{group} ({n})" for group, n in count.items()]


def table(head: list[str], lines: list[list[str]]) -> str:
    """A Markdown table, or that there is nothing to show."""
    rule = ["---"] * len(head)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *lines)) if lines else "Not measured."


def of(rows: Rows, *beginning: str) -> Rows:
    """Rows whose name begins with these parts."""
    start = "/".join(beginning) + "/"
    return {name: row for name, row in rows.items() if name.startswith(start)}


def failures(rows: Rows) -> list[str]:
    """What did not go as it should, a line each."""
    found = []
    for name, row in of(rows, "walk").items():
        if row["fell"]:
            _, body, style = name.split("/")
            found.append(f"Walk of {body}, style {style}: falls after {row['duration_s']:.1f} s.")
    for name, row in of(rows, "slope").items():
        if row["fell"]:
            _, size, way = name.split("/")
            found.append(f"Slope of {size} degrees rising towards {way}: falls after {row['duration_s']:.1f} s.")
    for variant, group in by_variant(rows).items():
        if fallen := sum(r["fell"] for r in group):
            found.append(f"Jump {variant}: falls in {fallen} of {len(group)} starts.")
        if low := sum(r["height"] < LOW_JUMP for r in group):
            found.append(f"Jump {variant}: rises less than {100 * LOW_JUMP:.0f} cm in {low} of {len(group)} starts.")
    for motion in ("balance", "walk"):
        for size, group in by_size(rows, motion).items():
            if (share := survived(group)) < (BAR if (motion, size) == ("walk", "20") else 100.0):
                bar = f" (the bar is {BAR:.0f} %)" if (motion, size) == ("walk", "20") else ""
                found.append(f"Pushes of {size} N s, {motion}: {share:.0f} % survived{bar}{where(group)}.")
    if g := upright_gait(rows):
        if max(g["hand_with_own_foot"]) > -0.3:
            found.append("The arms of the normal walk do not swing clearly against the legs.")
        if g["thorax_with_pelvis"] > -0.3:
            found.append("Shoulders do not turn against the hips in the normal walk.")
        if g["heel_off_share"] < 0.9:
            found.append(f"The heel rises before the ball leaves in only {100 * g['heel_off_share']:.0f} % of stances.")
    slow = [n for n, r in of(rows, "walk").items() if r["solve_ms_median"] > 0.3]
    if slow:
        most = max(rows[n]["solve_ms_median"] for n in slow)
        found.append(f"A tick takes more than 0.3 ms in {len(slow)} walks, up to {most:.2f} ms (median).")
    return found


def walks(rows: Rows) -> str:
    """A row for each walk: did it last, how far it went, how long a tick took."""
    head = ["body", "style", "kg", "fell", "s", "steps", "m/s", "solve ms, median", "p99", "times real time"]
    lines = [
        [*name.split("/")[1:], f"{r['mass']:.0f}", "**yes**" if r["fell"] else "no", f"{r['duration_s']:.0f}",
         str(r["steps"]), f"{r['speed']:.2f}", f"{r['solve_ms_median']:.2f}", f"{r['solve_ms_p99']:.2f}",
         f"{r['realtime_factor']:.1f}"]
        for name, r in of(rows, "walk").items()
    ]  # fmt: skip
    note = "Speed is that of the second half. Other bodies use the human's parameters, scaled by height."
    return table(head, lines) + "\n\n" + note


def slopes(rows: Rows) -> str:
    """A row for each slope."""
    head = ["degrees", "rises towards", "fell", "s", "steps", "m/s"]
    lines = [
        [*name.split("/")[1:], "**yes**" if r["fell"] else "no", f"{r['duration_s']:.0f}", str(r["steps"]),
         f"{r['speed']:.2f}"]
        for name, r in of(rows, "slope").items()
    ]  # fmt: skip
    note = (
        "The human's normal walk. The floor tips from level to the slope between 2 and 5 s; 0 is uphill, 90 a hill to "
        "the left, 180 downhill. The controller is told the slope, as a sole that lies flat and a sense of gravity "
        "would; it is the same everywhere: single steps and boxes underfoot are not met."
    )
    return table(head, lines) + "\n\n" + note


def upright_gait(rows: Rows) -> dict[str, Any] | None:
    """Of the human's normal walk, if that did not fall."""
    row = rows.get("walk/humanoid/normal", {"fell": True})
    return None if row["fell"] else row.get("gait")


def gait(rows: Rows) -> str:
    """What the normal walk does with arms, heels and trunk, as a list."""
    if not (g := upright_gait(rows)):
        return "Not measured: the walk falls, or has not been run."
    hands, feet, angle = g["hand_swing_m"], g["hand_with_own_foot"], g["shoulder_swing_deg"]
    lines = [
        f"Arm swing: hands travel {100 * hands[0]:.0f} and {100 * hands[1]:.0f} cm along the walk (left, right), the "
        f"shoulders {angle[0]:.0f} and {angle[1]:.0f} degrees. Correlation with the foot of the same side "
        f"{feet[0]:+.2f} and {feet[1]:+.2f}; people swing against it, near -1.",
        f"Heel-off: in {100 * g['heel_off_share']:.0f} % of {g['stances']:.0f} stances the heel is more than 1 cm high "
        f"before the ball leaves, {100 * g['heel_rise_m']:.1f} cm in the median.",
        f"Counter-rotation: the pelvis turns through {g['pelvis_yaw_deg']:.1f} degrees, the thorax through "
        f"{g['thorax_yaw_deg']:.1f}, against each other {g['between_yaw_deg']:.1f}; correlation "
        f"{g['thorax_with_pelvis']:+.2f}.",
    ]
    note = (
        "Ranges are from the 2nd to the 98th percentile. Arms, pelvis and thorax follow references that the walk's "
        "parameters prescribe in proportion to the hips' swing (arm_swing, hip_turn, shoulder_turn): that they go "
        "against the legs and each other does not emerge from the objectives; the heel-off is a state of the foot."
    )
    return "\n".join(f"- {line}" for line in lines) + "\n\n" + note


def by_variant(rows: Rows) -> dict[str, list[dict]]:
    """Rows of jumps by what is jumped."""
    found: dict[str, list[dict]] = {}
    for name, row in of(rows, "jump").items():
        found.setdefault(name.split("/")[1], []).append(row)
    return found


def jumps(rows: Rows) -> str:
    """A row for each variant: mean and standard deviation over its starts."""
    head = ["variant", "starts", "fell", "height cm", "flight s", "landing error cm", "worst", "turned degrees"]
    lines = []
    for variant, group in by_variant(rows).items():
        error = [100 * r["landing_error"] for r in group]
        lines.append([
            variant, str(len(group)), str(sum(r["fell"] for r in group)),
            mean_std([100 * r["height"] for r in group], 1),
            mean_std([r["flight_s"] for r in group], 3), mean_std(error, 1), f"{max(error):.1f}",
            mean_std([np.degrees(r["turned"]) for r in group], 0),
        ])  # fmt: skip
    note = (
        "Starts disturbed at random: joints by 0.02 rad, velocities by 0.05. Height is that of the centre of mass over "
        "standing; landing error the distance of the soles from where they should be, 3 s after the start."
    )
    return table(head, lines) + "\n\n" + note


def mean_std(values: list[float], digits: int) -> str:
    """ "2.4 ± 0.5"."""
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def compared(rows: Rows) -> str:
    """A row for each motion and solver: the errors of the first two priorities."""
    head = ["", "solver", "fell", "s", "contact error, median", "p99", "COM error, median", "p99", "besides"]
    lines = []
    for name, r in of(rows, "compare").items():
        _, motion, solver = name.split("/")
        extra = f"{100 * r['height']:.1f} cm high, lands {100 * r['landing_error']:.1f} cm off" if "height" in r else ""
        if "gait" in r and not r["fell"]:
            extra = f"hands swing {100 * np.mean(r['gait']['hand_swing_m']):.0f} cm, {r['speed']:.2f} m/s"
        errors = [f"{r[f'{level}_error_{what}']:.1e}" for level in ("contact", "com") for what in ("median", "p99")]
        lines.append([motion, solver, "**yes**" if r["fell"] else "no", f"{r['duration_s']:.1f}", *errors, extra])
    note = (
        "Errors are |A x - b| of the objective's accelerations [m/s², rad/s²]: contact is the first priority after the "
        "laws of motion, COM the second. Weighted: each priority ten times as heavy as the next. The normal walk."
    )
    return table(head, sorted(lines)) + "\n\n" + note


def by_size(rows: Rows, motion: str) -> dict[str, list[dict]]:
    """Rows of pushes while one motion goes on, by impulse [N s]."""
    found: dict[str, list[dict]] = {}
    for name, row in of(rows, "push", motion).items():
        found.setdefault(name.split("/")[2], []).append(row)
    return dict(sorted(found.items(), key=lambda item: float(item[0])))


def survived(group: list[dict]) -> float:
    """[%] of all directions and instants."""
    return 100 * float(np.mean([s for r in group for s in r["survived"]]))


def where(group: list[dict]) -> str:
    """The directions of the falls."""
    fallen = {round(a) for r in group for a, s in zip(r["angles_deg"], r["survived"], strict=True) if not s}
    return f", falls at {', '.join(str(a) for a in sorted(fallen))} degrees" if fallen else ""


def pushes(rows: Rows) -> str:
    """Standing and walking."""
    lines = []
    for motion in ("balance", "walk"):
        for size, group in by_size(rows, motion).items():
            angles = sorted({round(a) for r in group for a in r["angles_deg"]})
            lines.append([motion, size, str(sum(len(r["survived"]) for r in group)), f"{survived(group):.0f}",
                          *([share(group, a) for a in angles] if len(angles) == 8 else [""] * 8)])  # fmt: skip
    head = ["", "N s", "pushes", "survived %", *(f"{a}°" for a in range(0, 360, 45))]
    note = (
        "The human of 70 kg, pushed on the trunk for 0.2 s: standing at 1 s (balance, which takes no step), walking "
        "normally at 3.0 and 3.3 s, half a step apart. 0° is forward, 90° to the left. Survived: not fallen 3 s later."
    )
    return table(head, lines) + "\n\n" + note


def share(group: list[dict], angle: int) -> str:
    """ "2/2": pushes in a direction [degrees] survived, of all."""
    hits = [s for r in group for a, s in zip(r["angles_deg"], r["survived"], strict=True) if round(a) == angle]
    return f"{sum(hits)}/{len(hits)}"
