"""What `control.py` does: build a stage, run it, measure, keep what was asked for."""

import json
import time
from typing import Any

import numpy as np

from qes_jax.assembly.controlling.options import Options
from qes_jax.assembly.controlling.show import Scene, figure, save_playback
from qes_jax.control.balance import Balance
from qes_jax.control.body import Body, load_body
from qes_jax.control.clips import FPS, resample
from qes_jax.control.fast import Fast
from qes_jax.control.gait import STYLES, style
from qes_jax.control.jump import VARIANTS, Jump
from qes_jax.control.leap import watch_jump
from qes_jax.control.priority import SOLVERS, Solver
from qes_jax.control.simulate import LOW, Controller, Push, Record, Slope, Stage
from qes_jax.control.stride import Walker
from qes_jax.files import replacing, save_npz


def run(options: Options) -> int:
    """Simulate, print and write the metrics."""
    stage = make_stage(options)
    if isinstance(stage.controller, Jump):
        result, record = watch_jump(stage, stage.controller, options.duration)
        metrics = measure(record, stage, options) | result._asdict()
    else:
        record = stage.run(options.duration)
        metrics = measure(record, stage, options)
    print(json.dumps(metrics, indent=1))
    if options.json:
        with replacing(options.json) as aside:
            aside.write_text(json.dumps(metrics, indent=1) + "\n")
    if options.plots:
        with replacing(options.plots, options.plots.suffix) as aside:
            figure(record).savefig(aside, dpi=120)
    if options.html:
        save_playback(options.html, stage.body, resample(record, FPS), FPS)
    if options.qpos:
        save_npz(options.qpos, qpos=resample(record, FPS), fps=np.array(FPS))
    return 0


def make_stage(options: Options) -> Stage:
    """Body, controller and solver of the options. Raises KeyError that lists valid names."""
    body = load_body(options.body)
    low = 0.4 if options.motion == "jump" else LOW  # a crouch is no fall
    stage = Stage(body, make_controller(options, body), make_solver(options.solver), low=low)
    if options.push:
        angle = np.radians(options.push_angle)
        stage.pushes = [Push((options.push * np.cos(angle), options.push * np.sin(angle)), options.push_time)]
    if options.slope:
        stage.slope = Slope(options.slope, options.slope_heading)
    if options.seed is not None:
        rng = np.random.default_rng(options.seed)
        stage.data.qpos[body.qpos] += rng.normal(scale=0.02, size=len(body.qpos))
        stage.data.qvel[:] = rng.normal(scale=0.02, size=body.m.nv)
    return stage


def make_controller(options: Options, body: Body) -> Controller:
    """The controller of a motion. Raises KeyError at an unknown jump or style."""
    if options.motion == "balance":
        return Balance(body)
    if options.motion == "walk":
        return Walker(body, style(options.style))
    if options.variant not in VARIANTS:
        raise KeyError(f"unknown jump {options.variant!r}: expected one of {sorted(VARIANTS)}")
    return Jump(body, VARIANTS[options.variant])


def make_solver(name: str) -> Solver:
    """The solver by its name on the command line."""
    return Fast() if name == "strict" else SOLVERS["strict" if name == "algorithm1" else name]


def measure(record: Record, stage: Stage, options: Options) -> dict[str, Any]:
    """Times are processor times: what else runs on the machine does not count. Speeds [m/s], heights [m]."""
    com, solve_ms, half = np.array(record.com), 1e3 * np.array(record.solve_s), len(record.time) // 2
    simulated = record.time[-1] + record.dt
    metrics = {
        "motion": options.motion, "style": options.style, "variant": options.variant, "body": options.body,
        "solver": options.solver, "push": options.push, "slope": options.slope, "fell": record.fell,
        "duration_s": round(simulated, 3),
        "solve_ms_median": float(np.median(solve_ms)), "solve_ms_p99": float(np.percentile(solve_ms, 99)),
        "realtime_factor": simulated / record.cpu_s, "realtime_factor_wall": simulated / record.wall_s,
        "infeasible_ticks": int(np.sum(~np.array(record.feasible))),
        "speed": float(np.linalg.norm(com[-1, :2] - com[half, :2]) / max(record.time[-1] - record.time[half], 1e-9)),
        "com_height_mean": float(com[:, 2].mean()), "com_height_max": float(com[:, 2].max()),
    }  # fmt: skip
    for level in sorted({n for names in record.names for n in names}):
        metrics[f"error_{level}_median"] = float(np.nanmedian(record.error(level)))
    if isinstance(stage.solver, Fast):
        metrics["fallback_ticks"] = stage.solver.fallbacks
    if isinstance(stage.controller, Walker):
        metrics["steps"] = stage.controller.walk.steps
    return metrics


def run_live(options: Options) -> int:
    """Walk in the browser at real time, parameters from sliders; stands up again after a fall."""
    scene = Scene(load_body(options.body), options.port, STYLES, style(options.style))
    print(f"http://127.0.0.1:{options.port}  (Ctrl-C ends)", flush=True)
    try:
        while True:
            stage = make_stage(options)
            walker = stage.controller
            start = time.perf_counter()
            while not stage.record.fell:
                if isinstance(walker, Walker):
                    walker.parameters = scene.parameters()
                stage.pushes = [*stage.pushes, *scene.pushes(stage.data.time)]
                stage.run(1 / 30)
                scene.show(stage.data.qpos)
                time.sleep(max(0.0, stage.data.time - (time.perf_counter() - start)))
                stage.record = Record(stage.record.dt, fell=stage.record.fell)
            print("fell; again", flush=True)
    except KeyboardInterrupt:
        return 0
