"""A policy's room, a server, and the address."""

import asyncio
import ssl
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from qes_jax.assembly.living.options import Options
from qes_jax.assembly.program import make_task
from qes_jax.assembly.trained import find_trained, load_trained, shipped_policies
from qes_jax.evaluate.view.guard import check_port
from qes_jax.live.built import built_page
from qes_jax.live.door import Door
from qes_jax.live.person import Figure, load_person
from qes_jax.live.room import Room, make_room
from qes_jax.live.serve import Choices, House, open_door
from qes_jax.live.session import Live
from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import SCENES, Scene
from qes_jax.model.scene_file import find_scene
from qes_jax.model.world import build_world
from qes_jax.motion.clip import FPS
from qes_jax.motion.sensors import SensorTrack, sensor_clip


def live(options: Options) -> None:
    """Serve until Ctrl-C."""
    door, tls = _door(options)
    scene = find_scene(options.scene)
    furnish = furnisher(options.root)
    print(f"{options.policy} moves into {scene.name} ...", flush=True)
    session = Live(furnish(options.policy, scene), options.people)
    if options.person:
        session.person, session.measured = load_person(options.people, options.person), True
    policies = tuple(dict.fromkeys([options.policy, *shipped_policies()]))
    house = House(session, furnish, Choices(policies, SCENES | {scene.name: scene}), options.folder)
    asyncio.run(_serve(house, door, options.port, tls))


def furnisher(root: Path) -> Callable[[str, Scene], Room]:
    """From a policy's name and a scene to a room that is compiled."""

    @cache
    def furnish(name: str, scene: Scene) -> Room:
        trained = load_trained(find_trained(root, name))
        height = trained.config.character.height
        figure = Figure(build_world(CharacterConfig(height=height)))
        pos, quat = (np.float32(x)[None].repeat(2, axis=0) for x in (figure.rest_pos, figure.rest_quat))
        clip = sensor_clip(SensorTrack("live", height, FPS, pos, quat, np.ones((2, 3), bool)), scene)
        task, _ = make_task(trained.config, [clip])
        return make_room(name, task, trained.act, trained.policy, trained.mean_pose, scene)

    return furnish


def _door(options: Options) -> tuple[Door, ssl.SSLContext | None]:
    """Where to listen. Raises ValueError for what cannot be, before long work."""
    if (options.certificate is None) != (options.key is None):
        raise ValueError("--certificate and --key belong together")
    tls = None
    if options.certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(options.certificate, options.key)
    door = Door(built_page(), options.host, secure=tls is not None)
    if door.local:
        check_port(options.port)
    return door, tls


async def _serve(house: House, door: Door, port: int, tls: ssl.SSLContext | None) -> None:
    server = await open_door(house, door, port, tls)
    try:
        print(f"open {door.address(server.sockets[0].getsockname()[1])} (Ctrl-C ends)", flush=True)
        await house.run()
    finally:
        server.close()
        house.close()
