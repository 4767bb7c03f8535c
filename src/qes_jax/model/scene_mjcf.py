"""The bodies of an MJCF file as pieces of a scene: what a piece may be, and how it comes to stand on its own."""

import math
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from qes_jax.model.scene import Piece
from qes_jax.model.scene_check import SceneError, SceneWarning

LEFT_OUT = ("actuator", "equality", "tendon", "contact", "sensor", "keyframe")
GEOMS = ("box", "sphere", "capsule", "cylinder", "ellipsoid")


def read_bodies(path: Path) -> tuple[Piece, ...]:
    """Each body below the world as a piece, where it stands. A plane is the floor; all else of the file is ignored.

    Raises SceneError, or FileNotFoundError; warns of what is left out.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such scene file")
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        _check(spec)
        m = spec.compile()
        _check_floor(path, m)
    except SceneError:
        raise
    except (ValueError, mujoco.FatalError) as error:
        raise SceneError(f"{path}: {' '.join(str(error).split())}") from None
    root = ET.fromstring(spec.to_xml())
    elements = [body for world in root.iter("worldbody") for body in _below(world)]
    if not elements:
        raise SceneError(f"{path}: there is no body below the world, and a piece is one")
    if left_out := [tag for tag in LEFT_OUT if root.find(f"{tag}/*") is not None]:
        warnings.warn(f"{path}: left out, as pieces have none: {', '.join(left_out)}", SceneWarning, stacklevel=2)
    return tuple(_from_body(root, element, m.body(element.get("name"))) for element in elements)


def _below(parent: ET.Element, childclass: str | None = None) -> Iterator[ET.Element]:
    """Bodies below the world, those in frames among them, which pass their class on."""
    for element in parent:
        if element.tag == "frame":
            yield from _below(element, element.get("childclass", childclass))
        elif element.tag == "body":
            if childclass and not element.get("childclass"):
                element.set("childclass", childclass)
            yield element


def _check(spec: mujoco.MjSpec) -> None:
    """Refuse what no piece may have, and give all geoms that touch anything the masks and colour of a piece's."""
    for geom in spec.worldbody.geoms:
        if geom.type != mujoco.mjtGeom.mjGEOM_PLANE:
            raise ValueError(f"geom {geom.name!r} lies in the world itself: put it into a body, which is a piece")
    if spec.flexes:
        raise ValueError(f"flex {spec.flexes[0].name!r} is soft, and pieces are rigid")
    for number, body in enumerate(spec.worldbody.bodies, start=1):
        if not body.name:
            raise ValueError(f"body {number} below the world has no name, and a piece needs one")
        _check_piece(spec, body)


def _check_piece(spec: mujoco.MjSpec, body: mujoco.MjsBody) -> None:
    who = f"piece {body.name!r}"
    for joint in body.find_all("joint"):
        if joint.type not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            kind = mujoco.mjtJoint(joint.type).name.removeprefix("mjJNT_").lower()
            raise ValueError(
                f"{who}: joint {joint.name!r} is a {kind} joint, neither hinge nor slide. Leave it out: a piece stands "
                "where it is placed"
            )
    for seen in (*body.find_all("camera"), *body.find_all("light")):  # they may look at what is in another piece
        spec.delete(seen)
    geoms = body.find_all("geom")
    if not geoms:
        raise ValueError(f"{who}: there is no geom in it")
    for number, geom in enumerate(geoms, start=1):
        kind = mujoco.mjtGeom(geom.type).name.removeprefix("mjGEOM_").lower()
        which = repr(geom.name) if geom.name else str(number)
        touches = bool(geom.contype or geom.conaffinity)
        if kind == "mesh" and not touches and len(geoms) > 1:
            warnings.warn(f"{who}: geom {which}, a mesh for the eye, is left out", SceneWarning, stacklevel=2)
            spec.delete(geom)
            continue
        if kind not in GEOMS:
            hint = "; put boxes in its place" if kind == "mesh" else ""
            raise ValueError(f"{who}: geom {which} is a {kind}, expected {', '.join(GEOMS)}{hint}")
        geom.contype, geom.conaffinity, geom.condim = 2 * touches, int(touches), 3
        if geom.material:
            material = spec.material(geom.material)
            if material is None:
                raise ValueError(f"{who}: geom {which} has the material {geom.material!r}, which there is not")
            geom.rgba, geom.material = material.rgba, ""


def _check_floor(path: Path, m: mujoco.MjModel) -> None:
    """Raise SceneError at a plane that is not the floor, which is level and at height 0."""
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    for g in np.flatnonzero(m.geom_type == mujoco.mjtGeom.mjGEOM_PLANE):
        if abs(data.geom_xpos[g, 2]) > 1e-3 or data.geom_xmat[g, 8] < 1 - 1e-6:
            raise SceneError(f"{path}: plane {m.geom(g).name!r} is not the floor, level and at height 0: use a box")


def _from_body(root: ET.Element, body: ET.Element, compiled: Any) -> Piece:
    """A piece from a body's element in a file that MuJoCo has written, and from the compiled body.

    A joint of the body itself, or a tilt, moves into a body inside: a piece's own frame is only placed and turned.
    """
    name, pos, quat = str(body.get("name")), compiled.pos, compiled.quat
    yaw = 2.0 * math.atan2(quat[3], quat[0])  # the turn about Z nearest to the orientation
    inner = np.zeros(4)
    mujoco.mju_mulQuat(inner, np.array([math.cos(yaw / 2), 0.0, 0.0, -math.sin(yaw / 2)]), quat)
    body = deepcopy(body)
    for field in ("pos", "quat", "mocap"):
        body.attrib.pop(field, None)
    if np.abs(inner[1:]).max() > 1e-6 or body.find("joint") is not None:
        body.set("quat", " ".join(repr(float(x)) for x in inner))
        holder = ET.Element("body", name="placed")
        holder.append(body)
        body = holder
    model = ET.Element("mujoco", model=name)
    model.extend(deepcopy(e) for e in root if e.tag in ("compiler", "default"))
    for geom in model.iter("geom"):  # of classes: what they refer to stays behind
        geom.attrib.pop("material", None)
        geom.attrib.pop("mesh", None)
    ET.SubElement(model, "worldbody").append(body)
    text = ET.tostring(model, encoding="unicode")
    x, y, z = (float(v) for v in pos)
    return Piece(name, "mjcf", None, (x, y, z), math.remainder(yaw, 2 * math.pi), text)
