"""Environment-aware motion tracking from a headset and controllers, in JAX and MuJoCo.

    import qes_jax
    policy = qes_jax.load_policy("walk")
    print(qes_jax.evaluate_policy(policy, ["test_walk"], starts=8))

The names in `__all__` are the public interface (docs/library_api.md): they change only with the version's first number
(before 1.0 with the second), as CHANGELOG.md tells. Each is imported when it is first asked for: importing this package
is quick and changes nothing, no JAX, no MuJoCo, no configuration. The rooms below (`qes_jax.model`, `motion`, `env`,
`ppo`, `runs`, `control`, `pose`, `authoring`, `evaluate`, `live`) may be imported too, and may change at any time.
"""

TYPE_CHECKING = False  # as type checkers know it; importing `typing` would take time
if TYPE_CHECKING:
    from qes_jax.assembly.public import (
        evaluate_policy,
        label_contacts,
        load_clip,
        load_policy,
        make_scene,
        read_motion,
        read_scene,
        save_clip,
        solve_pose,
        train,
        view,
        walking_controller,
    )
    from qes_jax.assembly.settings import RunConfig
    from qes_jax.assembly.stream import StreamTracker

__version__ = "0.2.0"

__all__ = [
    "RunConfig",
    "StreamTracker",
    "evaluate_policy",
    "label_contacts",
    "load_clip",
    "load_policy",
    "make_scene",
    "read_motion",
    "read_scene",
    "save_clip",
    "solve_pose",
    "train",
    "view",
    "walking_controller",
]

_ELSEWHERE = {"RunConfig": "settings", "StreamTracker": "stream"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'qes_jax' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"qes_jax.assembly.{_ELSEWHERE.get(name, 'public')}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
