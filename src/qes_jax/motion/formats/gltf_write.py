"""glTF 2.0 written as .glb: trees of joints with one animation, meshes in plain colours, skins."""

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qes_jax.files import replacing
from qes_jax.motion.formats.gltf_file import BIN_CHUNK, JSON_CHUNK, MAGIC
from qes_jax.motion.formats.skeleton import SkeletonMotion, rest, y_up
from qes_jax.motion.frames import rotation

CODES = {"f4": 5126, "u2": 5123, "u4": 5125}
TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
STILL = 1e-6  # [m] or of a quaternion, by which nothing moves


@dataclass(frozen=True)
class Surface:
    """Triangles of one colour."""

    vertices: np.ndarray  # (V, 3) [m]
    normals: np.ndarray  # (V, 3)
    faces: np.ndarray  # (F, 3)
    color: tuple[float, float, float]  # linear RGB, 0 to 1
    joint: int = 0  # of a skin, that carries all of it


class GltfWriter:
    """A file under construction. Everything given is in our world, Z up, and turned to glTF's, Y up."""

    def __init__(self, name: str, fps: float, frames: int, rights: str) -> None:
        self.data = bytearray()
        self.tree: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "qes_jax", "copyright": rights, "extras": {"fps": fps}},
            "scene": 0, "scenes": [{"name": name, "nodes": []}],
            "nodes": [], "meshes": [], "materials": [], "skins": [], "accessors": [], "bufferViews": [],
            "animations": [{"name": name, "channels": [], "samplers": []}],
        }  # fmt: skip
        self.times = self._accessor(np.arange(frames) / fps, "f4", ends=True)

    def add_tree(self, motion: SkeletonMotion, under: int | None = None) -> list[int]:
        """Nodes of a skeleton's joints, still as in its rest pose, animated where they move in their parents."""
        motion = y_up(motion)
        nodes = []
        for joint, parent in enumerate(motion.parents):
            place, turn = motion.rest_pos[joint], motion.rest_quat[joint]
            above = nodes[parent] if parent >= 0 else under
            fields = {"translation": place.tolist(), "rotation": np.roll(turn, -1).tolist()}
            nodes.append(self.add_node(motion.joints[joint], above, **fields))
            if np.abs(motion.pos[:, joint] - place).max() > STILL:
                self._animate(nodes[joint], "translation", motion.pos[:, joint])
            quat = _of_one_sign(motion.quat[:, joint])
            if np.abs(np.abs(quat @ turn) - 1).max() > STILL**2:
                self._animate(nodes[joint], "rotation", np.roll(quat, -1, axis=-1))
        return nodes

    def add_node(self, name: str, under: int | None = None, **fields: Any) -> int:
        """A node, in the scene itself or below another."""
        number = len(self.tree["nodes"])
        self.tree["nodes"].append({"name": name, **fields})
        if under is None:
            self.tree["scenes"][0]["nodes"].append(number)
        else:
            self.tree["nodes"][under].setdefault("children", []).append(number)
        return number

    def add_mesh(self, node: int, surfaces: list[Surface], skinned: bool = False) -> None:
        """Give a node a mesh in its own frame, or a skinned one in the rest pose's world."""
        primitives = [self._primitive(s, skinned) for s in surfaces]
        self.tree["nodes"][node]["mesh"] = len(self.tree["meshes"])
        self.tree["meshes"].append({"name": self.tree["nodes"][node]["name"], "primitives": primitives})

    def add_skin(self, node: int, motion: SkeletonMotion, joints: list[int]) -> None:
        """Bind a node's mesh to the nodes of a skeleton's joints as they rest."""
        place, turn = rest(y_up(motion))
        inverse = np.tile(np.eye(4), (len(joints), 1, 1))
        inverse[:, :3, :3] = rotation(turn).inv().as_matrix()
        inverse[:, :3, 3] = -np.einsum("jik,jk->ji", inverse[:, :3, :3], place)
        by_columns = np.swapaxes(inverse, 1, 2).reshape(-1, 16)
        self.tree["nodes"][node]["skin"] = len(self.tree["skins"])
        self.tree["skins"].append({"joints": joints, "inverseBindMatrices": self._accessor(by_columns, "f4")})

    def save(self, path: str | Path) -> None:
        """Write the .glb, whole or not at all."""
        binary = bytes(self.data) + b"\0" * (-len(self.data) % 4)
        tree = {k: v for k, v in self.tree.items() if v or k == "scene"} | {"buffers": [{"byteLength": len(binary)}]}
        text = json.dumps(tree).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), JSON_CHUNK) + text + struct.pack("<II", len(binary), BIN_CHUNK) + binary
        with replacing(Path(path)) as aside:
            aside.write_bytes(MAGIC + struct.pack("<II", 2, 12 + len(chunks)) + chunks)

    def _primitive(self, surface: Surface, skinned: bool) -> dict[str, Any]:
        count = len(surface.vertices)
        attributes = {
            "POSITION": self._accessor(surface.vertices, "f4", ends=True),
            "NORMAL": self._accessor(surface.normals, "f4"),
        }
        if skinned:
            bones = np.tile([surface.joint, 0, 0, 0], (count, 1))
            attributes["JOINTS_0"] = self._accessor(bones, "u2")
            attributes["WEIGHTS_0"] = self._accessor(np.tile([1.0, 0, 0, 0], (count, 1)), "f4")
        return {
            "attributes": attributes,
            "indices": self._accessor(surface.faces.ravel(), "u4"),
            "material": self._material(surface.color),
        }

    def _material(self, color: tuple[float, float, float]) -> int:
        look = {"baseColorFactor": [*color, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8}
        material = {"pbrMetallicRoughness": look}
        if material not in self.tree["materials"]:
            self.tree["materials"].append(material)
        return self.tree["materials"].index(material)

    def _animate(self, node: int, path: str, values: np.ndarray) -> None:
        animation = self.tree["animations"][0]
        target = {"node": node, "path": path}
        animation["channels"].append({"sampler": len(animation["samplers"]), "target": target})
        animation["samplers"].append({"input": self.times, "output": self._accessor(values, "f4")})

    def _accessor(self, array: np.ndarray, kind: str, ends: bool = False) -> int:
        array = np.ascontiguousarray(array, "<" + kind)
        self.data += b"\0" * (-len(self.data) % 4)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes}
        self.data += array.tobytes()
        self.tree["bufferViews"].append(view)
        item = {
            "bufferView": len(self.tree["bufferViews"]) - 1, "componentType": CODES[kind], "count": len(array),
            "type": TYPES[array.shape[1] if array.ndim > 1 else 1],
        }  # fmt: skip
        if ends:
            rows = array.reshape(len(array), -1)
            item |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self.tree["accessors"].append(item)
        return len(self.tree["accessors"]) - 1


def _of_one_sign(quat: np.ndarray) -> np.ndarray:
    """Quaternions (T, 4), each with the sign that is nearer to the one before."""
    flips = np.sign(np.einsum("ti,ti->t", quat[1:], quat[:-1]))
    return quat * np.concatenate([[1.0], np.cumprod(np.where(flips == 0, 1.0, flips))])[:, None]
