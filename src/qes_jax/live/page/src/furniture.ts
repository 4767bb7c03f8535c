// Furniture that is grabbed: where each piece is to go, sent no faster than the server takes it.

import * as THREE from "three";
import { Piece } from "./link";
import { Stage } from "./stage";

const EVERY = 80; // [ms]
const REACH = 6; // [m] of a controller's ray

export class Furniture {
  private pieces = new Map<number, Piece>();
  private wanted = new Map<number, { x: number; y: number; yaw: number }>();
  private sent = 0;
  private grabbed: { body: number; hand: number; at: THREE.Vector3; yaw: number } | null = null;

  constructor(
    private stage: Stage,
    private command: (words: Record<string, unknown>) => void,
  ) {}

  set(pieces: Piece[]): void {
    this.pieces = new Map(pieces.map((p) => [p.body, p]));
    this.wanted.clear();
  }

  get movable(): Set<number> {
    return new Set(this.pieces.keys());
  }

  /** Move a piece by so much [m], [rad] in the scene's axes. */
  move(body: number, x: number, y: number, yaw: number): void {
    const mesh = this.stage.bodies[body];
    const now = this.wanted.get(body) ?? { x: mesh.position.x, y: mesh.position.y, yaw: yawOf(mesh) };
    this.wanted.set(body, { x: now.x + x, y: now.y + y, yaw: now.yaw + yaw });
  }

  /** A hand closes: what its ray meets first is grabbed; or opens. `hand` is the mesh of a user's point. */
  grab(number: number, hand: THREE.Object3D, down: boolean): void {
    this.grabbed = null;
    if (!down) return;
    const from = new THREE.Vector3().setFromMatrixPosition(hand.matrixWorld);
    const ahead = new THREE.Vector3(0, 0, -1).transformDirection(hand.matrixWorld);
    const ray = new THREE.Raycaster(from, ahead, 0, REACH);
    const bodies = this.stage.bodies.filter((mesh) => this.pieces.has(mesh.userData.body));
    const hit = ray.intersectObjects(bodies, false)[0];
    if (hit) this.grabbed = { body: hit.object.userData.body, hand: number, at: hand.position.clone(), yaw: yawOf(hand) };
  }

  /** Once a frame: what is grabbed goes with its hand, and the newest places are sent. */
  update(now: number, hands: THREE.Object3D[]): void {
    if (this.grabbed) {
      const hand = hands[this.grabbed.hand];
      const { x, y } = hand.position.clone().sub(this.grabbed.at);
      const yaw = yawOf(hand);
      this.move(this.grabbed.body, 1.5 * x, 1.5 * y, yaw - this.grabbed.yaw);
      Object.assign(this.grabbed, { at: hand.position.clone(), yaw });
    }
    if (now - this.sent < EVERY || !this.wanted.size) return;
    this.sent = now;
    for (const [body, to] of this.wanted) this.command({ do: "move", piece: this.pieces.get(body)?.name, ...to });
    if (!this.grabbed) this.wanted.clear();
  }
}

function yawOf(object: THREE.Object3D): number {
  const x = new THREE.Vector3(1, 0, 0).applyQuaternion(object.quaternion);
  return Math.atan2(x.y, x.x);
}
