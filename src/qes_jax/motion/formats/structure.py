"""Parts of a body told by the shape of the tree and by how it moves, without any names.

Where two chains of like length hang from one joint, and from a third one above it two more, the lower are legs and the
upper are arms. Lengths are taken in the first frame, unit and axes do not matter. Segments' shares of the height are
those of Winter, Biomechanics and Motor Control of Human Movement (2009), figure 4.1.
"""

from itertools import combinations, pairwise

import numpy as np

from qes_jax.motion.formats.skeleton import SkeletonMotion, snapshots

LEG, UPPER_ARM, FOREARM = 0.491, 0.186, 0.146  # of the height


def ancestry(motion: SkeletonMotion, joint: int) -> list[int]:
    """The joint's ancestors, nearest first."""
    line = []
    while motion.parents[joint] >= 0:
        joint = motion.parents[joint]
        line.append(joint)
    return line


def meeting(motion: SkeletonMotion, a: int, b: int) -> int:
    """The lowest joint above both, -1 where there is none."""
    above = ancestry(motion, b)
    return next((j for j in ancestry(motion, a) if j in above), -1)


def back(motion: SkeletonMotion, hips: int, chest: int) -> dict[str, int]:
    """The chest, and the middle one of the joints between hips and chest as spine, where there are any."""
    if chest < 0 or hips < 0:
        return {}
    base = hips if hips in ancestry(motion, chest) else meeting(motion, hips, chest)
    if base < 0:
        return {}
    above = ancestry(motion, chest)
    between = above[: above.index(base)]
    return {"chest": chest} | ({"spine": between[len(between) // 2]} if between else {})


def roles(motion: SkeletonMotion) -> dict[str, str]:
    """Roles told by the shape, empty where it is not a body's."""
    lengths = np.linalg.norm(motion.pos[0], axis=-1)
    paths = [_longest(motion, lengths, j) for j in range(len(motion.joints))]
    pairs = _pairs(motion, lengths, paths)
    for hips, legs in pairs:
        for chest, arms in pairs:
            upper, lower = [chest, *ancestry(motion, chest)], [hips, *ancestry(motion, hips)]
            if len(upper) > len(lower) and not any(j in upper for j in legs) and not any(j in lower for j in arms):
                found = _body(motion, lengths, paths, hips, legs, chest, arms)
                if found:
                    return {role: motion.joints[joint] for role, joint in found.items()}
    return {}


def _longest(motion: SkeletonMotion, lengths: np.ndarray, joint: int) -> list[int]:
    """Joints of the longest way down from a joint, itself first."""
    best, reach = [], 0.0
    for child in motion.children(joint):
        path = _longest(motion, lengths, child)
        if (way := lengths[path].sum()) > reach:
            best, reach = path, way
    return [joint, *best]


def _pairs(motion: SkeletonMotion, lengths: np.ndarray, paths: list[list[int]]) -> list[tuple[int, tuple[int, int]]]:
    """Joints with two children whose ways down are of like length and three bones at least, longest first."""
    found = []
    for joint in range(len(motion.joints)):
        reach = {c: lengths[paths[c][1:]].sum() for c in motion.children(joint) if (lengths[paths[c]] > 0).sum() >= 3}
        for a, b in combinations(reach, 2):
            if abs(reach[a] - reach[b]) < 0.1 * max(reach[a], reach[b]):
                found.append((reach[a], (joint, (a, b))))
    return [pair for _, pair in sorted(found, key=lambda f: -f[0])]


def _body(
    motion: SkeletonMotion, lengths: np.ndarray, paths: list[list[int]], hips: int, legs: tuple[int, int], chest: int,
    arms: tuple[int, int],
) -> dict[str, int]:  # fmt: skip
    leg_rows = [_leg(paths[c], lengths) for c in legs]
    if not all(leg_rows):
        return {}
    height = sum(lengths[row[1]] + lengths[row[2]] for row in leg_rows) / 2 / LEG
    arm_rows = [_arm(paths[c], lengths, height) for c in arms]
    above = [c for c in motion.children(chest) if c not in arms and lengths[paths[c]].sum() > 0]
    if not all(arm_rows) or not above:
        return {}
    up = max(above, key=lambda c: lengths[paths[c]].sum())
    head = paths[up][-2] if len(paths[up]) > 1 else up
    found = {"hips": hips, "head": head} | back(motion, hips, chest) | ({"neck": up} if up != head else {})
    left = _left_first(motion, leg_rows, hips, chest)
    order = (0, 1) if left else (1, 0)
    arm_order = order if _same_side(motion, leg_rows, arm_rows) else order[::-1]
    for side, leg, arm in zip(("left", "right"), order, arm_order, strict=True):
        found |= {f"{side}_{r}": j for r, j in zip(("hip", "knee", "ankle", "ball"), leg_rows[leg], strict=False)}
        found |= {f"{side}_{r}": j for r, j in zip(("shoulder", "elbow", "wrist", "hand"), arm_rows[arm], strict=False)}
    return found


def _leg(path: list[int], lengths: np.ndarray) -> list[int]:
    """Hip, knee, ankle, ball: the two longest bones that follow one another, and what comes then."""
    bones = [lengths[a] + lengths[b] for a, b in pairwise(path[1:])]
    first = int(np.argmax(bones)) if bones else 0
    return [j for j in path[first:] if j in path[first : first + 3] or lengths[j] > 0][:4] if len(bones) else []


def _arm(path: list[int], lengths: np.ndarray, height: float) -> list[int]:
    """Shoulder, elbow, wrist, hand: those joints of the way whose distances are most like an arm's."""
    along = np.cumsum(lengths[path])

    def unlike(c: tuple[int, ...]) -> float:
        upper, lower = (max(along[b] - along[a], 1e-9) for a, b in pairwise(c))
        logs = np.log([upper / (UPPER_ARM * height), lower / (FOREARM * height), lower * UPPER_ARM / (upper * FOREARM)])
        return float(np.abs(logs).sum())

    best = min(combinations(range(len(path)), 3), key=unlike, default=())
    return [path[i] for i in best] + path[best[-1] + 1 : best[-1] + 2] if best else []


def _left_first(motion: SkeletonMotion, legs: list[list[int]], hips: int, chest: int) -> bool:
    """Whether the first leg is the left one: feet, or else bent knees, point ahead."""
    place = snapshots(motion)
    ahead = np.zeros_like(place[:, 0])
    for row in legs:
        hip, knee, ankle = (place[:, j] for j in row[:3])
        ahead += place[:, row[3]] - ankle if len(row) > 3 else knee - (hip + ankle) / 2
    up = place[:, chest] - place[:, hips]
    across = place[:, legs[0][0]] - place[:, legs[1][0]]
    return float(np.einsum("ti,ti->t", np.cross(up, ahead), across).mean()) > 0


def _same_side(motion: SkeletonMotion, legs: list[list[int]], arms: list[list[int]]) -> bool:
    place = snapshots(motion)
    across = [place[:, rows[0][0]] - place[:, rows[1][0]] for rows in (legs, arms)]
    return float(np.einsum("ti,ti->t", *across).mean()) > 0
