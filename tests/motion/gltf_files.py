"""glTF files for tests, put together by pygltflib, which shares no code with the reader."""

from pathlib import Path

import numpy as np
import pygltflib as g


class Builder:
    """A file that grows by nodes, accessors and clips, then is saved in any of its three containers."""

    def __init__(self) -> None:
        self.gltf = g.GLTF2(scene=0, scenes=[g.Scene(nodes=[0])], buffers=[g.Buffer(byteLength=0)])
        self.data = b""

    def node(self, **fields) -> int:
        self.gltf.nodes.append(g.Node(**fields))
        return len(self.gltf.nodes) - 1

    def view(self, content: bytes, **fields) -> int:
        self.data += b"\0" * (-len(self.data) % 4)
        self.gltf.bufferViews.append(
            g.BufferView(buffer=0, byteOffset=len(self.data), byteLength=len(content), **fields)
        )
        self.data += content
        return len(self.gltf.bufferViews) - 1

    def accessor(self, array: np.ndarray, kind: str = "f4", **fields) -> int:
        code = {"f4": g.FLOAT, "i2": g.SHORT, "u1": g.UNSIGNED_BYTE, "u2": g.UNSIGNED_SHORT, "i1": g.BYTE}[kind]
        name = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}[array.shape[1] if array.ndim > 1 else 1]
        view = self.view(np.ascontiguousarray(array, "<" + kind).tobytes())
        self.gltf.accessors.append(
            g.Accessor(bufferView=view, componentType=code, count=len(array), type=name, **fields)
        )
        return len(self.gltf.accessors) - 1

    def clip(self, name: str | None, channels: list[tuple[int, str, str, np.ndarray, np.ndarray]]) -> None:
        """Of channels (node, path, interpolation, times, values)."""
        clip = g.Animation(name=name)
        for node, path, way, times, values in channels:
            ends = {"min": [float(np.min(times))], "max": [float(np.max(times))]}
            sampler = g.AnimationSampler(
                input=self.accessor(np.asarray(times), **ends), output=self.accessor(values), interpolation=way
            )
            target = g.AnimationChannelTarget(node=node, path=path)
            clip.channels.append(g.AnimationChannel(sampler=len(clip.samplers), target=target))
            clip.samplers.append(sampler)
        self.gltf.animations.append(clip)

    def save(self, folder: Path, container: str = "glb") -> Path:
        """container: glb, gltf (data URI) or files (buffer beside it)."""
        self.gltf.buffers[0].byteLength = len(self.data)
        self.gltf.set_binary_blob(self.data)
        path = folder / ("motion.glb" if container == "glb" else "motion.gltf")
        if container == "gltf":
            self.gltf.convert_buffers(g.BufferFormat.DATAURI)
        elif container == "files":
            self.gltf.buffers[0].uri = "some%20data.bin"
            (folder / "some data.bin").write_bytes(self.data)
        self.gltf.save(str(path))
        return path
