"""What `control_results.py` measures: each function is one row, from plain arguments to plain numbers."""

import copy
from typing import Any

import mujoco
import numpy as np

from qes_jax.control.balance import Balance
from qes_jax.control.body import SIDES, Body, load_body
from qes_jax.control.contact import yaw_frame
from qes_jax.control.fast import Fast
from qes_jax.control.gait import STYLES
from qes_jax.control.jump import VARIANTS
from qes_jax.control.leap import run_jump
from qes_jax.control.priority import SOLVERS, Solver
from qes_jax.control.simulate import Push, Record, Slope, Stage
from qes_jax.control.stride import NEAR, Walker

Row = dict[str, Any]
EVERY = 4  # ticks between the moments at which a gait is looked at


def solver_of(name: str) -> Solver:
    return Fast() if name == "strict" else SOLVERS[name]


def walk(body: str, style: str, duration: float, solver: str = "strict") -> Row:
    """A walk from standing: how far, how fast, how dear, how well each priority was met; the human's gait besides."""
    b = load_body(body)
    record = Stage(b, walker := Walker(b, STYLES[style]), solver_of(solver)).run(duration)
    row = {"mass": b.mass, "steps": walker.walk.steps, **general(record)}
    com, half = np.array(record.com), len(record.com) // 2
    row["realtime_factor"] = len(com) * record.dt / record.cpu_s  # of processor time
    row["speed"] = float(np.linalg.norm(com[-1, :2] - com[half, :2]) / ((len(com) - half) * record.dt))
    if body == "humanoid" and len(com) > 1000:
        row["gait"] = gait(b, record)
    return row


def general(record: Record) -> Row:
    """Fall, duration, processor times, and the errors |A x - b| of the two priorities that matter most."""
    ms, simulated = 1e3 * np.array(record.solve_s), len(record.time) * record.dt
    row = {
        "fell": record.fell, "duration_s": simulated,
        "solve_ms_median": float(np.median(ms)), "solve_ms_p99": float(np.percentile(ms, 99)),
    }  # fmt: skip
    for level in ("contact", "com"):
        e = record.error(level)
        row[f"{level}_error_median"] = float(np.nanmedian(e))
        row[f"{level}_error_p99"] = float(np.nanpercentile(e, 99))
    return row


def gait(b: Body, record: Record) -> Row:
    """Swing of hands, rising of heels, turning of pelvis against thorax, in the second half of a walk along X."""
    data, seen = mujoco.MjData(b.m), []
    qpos = record.qpos[len(record.qpos) // 2 :: EVERY]
    for q in qpos:
        data.qpos[:] = q
        mujoco.mj_kinematics(b.m, data)
        seen.append(_moment(b, data))
    hands, feet, rises, yaws = (np.array(x) for x in zip(*seen, strict=True))
    yaws = np.unwrap(yaws, axis=0)
    out = {
        "hand_swing_m": [spread(hands[:, i]) for i in (0, 1)],
        "hand_with_own_foot": [together(hands[:, i], feet[:, i]) for i in (0, 1)],
        "pelvis_yaw_deg": np.degrees(spread(yaws[:, 0])), "thorax_yaw_deg": np.degrees(spread(yaws[:, 1])),
        "thorax_with_pelvis": together(yaws[:, 0], yaws[:, 1]),
        "between_yaw_deg": np.degrees(spread(yaws[:, 1] - yaws[:, 0])),
        **heel_off(np.concatenate([rises[:, 0], rises[:, 1]])),
    }  # fmt: skip
    shoulders = [b.qpos[b.joints.index(f"{side}_shoulder_swing")] for side in SIDES]
    out["shoulder_swing_deg"] = [float(np.degrees(spread(np.array(qpos)[:, i]))) for i in shoulders]
    return {k: v if isinstance(v, list) else float(v) for k, v in out.items()}


def _moment(b: Body, data: mujoco.MjData) -> tuple[list[float], list[float], list[float], list[float]]:
    """Forward places of hands and feet in the pelvis; heel over floor while the ball stands, else NaN; two yaws."""
    at = data.xpos - data.xpos[b.root]
    rises = []
    for foot in b.feet:
        z = data.geom_xpos[foot.corners, 2] - b.m.geom_size[foot.corners, 0]
        rises.append(float(z[foot.rear].mean()) if z[foot.ball].mean() < NEAR else np.nan)
    turn = [data.xmat[i].reshape(3, 3) for i in (b.root, b.trunk)]
    forward = yaw_frame(float(np.arctan2(turn[0][1, 0], turn[0][0, 0])))[:, 0]
    hands = [float(at[b.m.body(f"{side}_hand").id] @ forward) for side in SIDES]
    feet = [float(at[foot.body] @ forward) for foot in b.feet]
    return hands, feet, rises, [float(np.arctan2(R[1, 0], R[0, 0])) for R in turn]


def spread(x: np.ndarray) -> float:
    """From the 2nd to the 98th percentile."""
    return float(np.diff(np.percentile(x, (2, 98)))[0])


def together(x: np.ndarray, y: np.ndarray) -> float:
    """Correlation: -1 where they go against each other."""
    return float(np.corrcoef(x, y)[0, 1])


def heel_off(rise: np.ndarray) -> Row:
    """Over stances (runs without NaN of a fifth of a second or more): how high the heel is when the ball leaves."""
    edges = np.flatnonzero(np.diff(np.isnan(np.concatenate([[np.nan], rise, [np.nan]]))))
    runs = [rise[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 12]
    most = np.array([run[len(run) // 2 :].max() for run in runs])
    return {"stances": len(most), "heel_rise_m": float(np.median(most)), "heel_off_share": float(np.mean(most > 0.01))}


def jump(variant: str, seed: int, solver: str = "strict", body: str = "humanoid") -> Row:
    """One standing jump; `seed` disturbs its start."""
    result, record = run_jump(load_body(body), VARIANTS[variant], lambda: solver_of(solver), seed)
    return {**general(record), **result._asdict()}


def slope(size: float, heading: float, duration: float) -> Row:
    """A normal walk along X on a floor that tips to `size` [degrees], rising towards `heading` [degrees]."""
    b = load_body()
    stage = Stage(b, walker := Walker(b), Fast())
    stage.slope = Slope(size, heading)
    record = stage.run(duration)
    half = len(record.com) // 2
    way = np.linalg.norm(record.com[-1][:2] - record.com[half][:2])
    speed = float(way / ((len(record.com) - half) * record.dt))
    return {**general(record), "steps": walker.walk.steps, "speed": speed, "fallbacks": stage.solver.fallbacks}


def pushes(motion: str, size: float, start: float, directions: int, watch: float) -> Row:
    """The same instant (`start` [s]) pushed in each direction by `size` [N s]: who still stands `watch` [s] later."""
    b = load_body()
    before = Stage(b, Balance(b) if motion == "balance" else Walker(b), Fast())
    before.run(start)
    angles = 2 * np.pi * np.arange(directions) / directions
    survived = []
    for angle in angles:
        stage = copy.deepcopy(before, {id(b): b})
        stage.pushes = [Push((size * np.cos(angle), size * np.sin(angle)), start)]
        survived.append(not before.record.fell and not stage.run(watch).fell)
    return {"angles_deg": np.degrees(angles).tolist(), "survived": survived}
