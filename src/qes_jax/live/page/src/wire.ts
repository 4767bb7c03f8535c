// What goes over the socket, byte by byte: docs/live.md describes it.

export const POINTS = ["headset", "left controller", "right controller"] as const;
export const FLAGS = { paused: 1, held: 2, gliding: 4, fallen: 8, recording: 16 } as const;
export const RECENTRED = 2 ** 31;
const VERSION = 1;
const SAMPLE_BYTES = 104;
const POSES_HEAD = 24;

/** A pose in the device's space as WebXR has it: position [m] and quaternion xyzw; null where it is not tracked. */
export type Pose = { p: number[]; q: number[] } | null;

export interface Sample {
  seq: number;
  t: number; // [s]
  visible: boolean;
  buttons: number;
  points: Pose[]; // headset, left, right
}

export interface Body {
  name: string;
  object: number; // 0: the character
  vertices: Float32Array;
  colors: Uint8Array;
  faces: Uint32Array;
}

/** Poses (position, quaternion wxyz) of the bodies, then of the user's three points, in the scene. */
export interface Poses {
  flags: number;
  tick: number;
  t: number; // [s] the server's clock
  error: number; // [m]
  touching: number; // bits by link
  rows: Float32Array; // 7 a pose
}

export function writeSample(sample: Sample): ArrayBuffer {
  const buffer = new ArrayBuffer(SAMPLE_BYTES);
  const view = new DataView(buffer);
  const tracked = sample.points.reduce((bits, pose, i) => bits | (pose ? 1 << i : 0), 0);
  [1, VERSION, tracked, sample.visible ? 1 : 0].forEach((byte, i) => view.setUint8(i, byte));
  view.setUint32(4, sample.buttons >>> 0, true);
  view.setUint32(8, sample.seq >>> 0, true);
  view.setFloat64(12, sample.t, true);
  sample.points.forEach((pose, i) => {
    const numbers = pose ? [...pose.p, ...pose.q] : [0, 0, 0, 0, 0, 0, 1];
    numbers.forEach((x, k) => view.setFloat32(20 + 4 * (7 * i + k), x, true));
  });
  return buffer;
}

/** The kind of a binary message, 0 for one of another version. */
export function kindOf(buffer: ArrayBuffer): number {
  const bytes = new Uint8Array(buffer);
  return bytes[1] === VERSION ? bytes[0] : 0;
}

export function readBodies(buffer: ArrayBuffer): Body[] {
  const length = new DataView(buffer).getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  let at = 8 + length;
  const take = (bytes: number) => {
    at += bytes;
    return buffer.slice(at - bytes, at);
  };
  return head.bodies.map((row: { name: string; object: number; vertices: number; faces: number }) => ({
    name: row.name,
    object: row.object,
    vertices: new Float32Array(take(12 * row.vertices)),
    colors: new Uint8Array(take(4 * row.vertices)),
    faces: new Uint32Array(take(12 * row.faces)),
  }));
}

export function readPoses(buffer: ArrayBuffer): Poses {
  const view = new DataView(buffer);
  return {
    flags: view.getUint8(2),
    tick: view.getUint32(4, true),
    t: view.getFloat64(8, true),
    error: view.getFloat32(16, true),
    touching: view.getUint32(20, true),
    rows: new Float32Array(buffer.slice(POSES_HEAD)),
  };
}
