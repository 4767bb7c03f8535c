// Without a headset: the user's three points are dragged by the mouse, and walk by the keys.

import * as THREE from "three";
import { Pose, Sample } from "./wire";

const WALK = 0.9; // [m/s]
const TURN = 1.2; // [rad/s]
const UP = new THREE.Vector3(0, 1, 0);

/** The three points in the device's space, which is that of WebXR: Y up, ahead is -Z. */
export class Puppet {
  active = false;
  private places: THREE.Vector3[] = [];
  private turns: THREE.Quaternion[] = [];
  private keys = new Set<string>();
  private then = 0;

  constructor() {
    addEventListener("keydown", (e) => {
      if (!(e.target instanceof HTMLInputElement)) this.keys.add(e.code);
    });
    addEventListener("keyup", (e) => this.keys.delete(e.code));
    addEventListener("blur", () => this.keys.clear());
  }

  /** Stand in the A-pose: positions and quaternions wxyz in the scene's axes. */
  stand(pos: number[][], quat: number[][]): void {
    this.places = pos.map(([x, y, z]) => new THREE.Vector3(-y, z, -x));
    this.turns = quat.map(([w, x, y, z]) => new THREE.Quaternion(-y, z, -x, w));
  }

  /** Move a point by so much [m], in the device's space; the headset takes the hands along. */
  drag(point: number, by: THREE.Vector3): void {
    if (!this.active) return;
    const moved = point === 0 ? this.places : [this.places[point]];
    for (const place of moved) place.add(by);
    for (const place of this.places) place.y = Math.max(place.y, 0.05);
  }

  /** What a headset would say now. */
  read(time: number): Omit<Sample, "seq"> {
    const seconds = time / 1000;
    this.walk(Math.min(seconds - this.then, 0.1));
    this.then = seconds;
    const points: Pose[] = this.places.map((p, i) => ({ p: p.toArray(), q: this.turns[i].toArray() }));
    return { t: seconds, visible: true, buttons: 0, points };
  }

  private walk(dt: number): void {
    const held = (code: string) => (this.keys.has(code) ? 1 : 0);
    const head = this.places[0];
    const angle = TURN * dt * (held("KeyQ") - held("KeyE"));
    if (angle !== 0) {
      const by = new THREE.Quaternion().setFromAxisAngle(UP, angle);
      this.places.forEach((p) => p.sub(head.clone().setY(0)).applyQuaternion(by).add(head.clone().setY(0)));
      this.turns.forEach((q) => q.premultiply(by));
    }
    const ahead = new THREE.Vector3(0, 0, -1).applyQuaternion(this.turns[0]).setY(0).normalize();
    const left = new THREE.Vector3().crossVectors(UP, ahead);
    const step = new THREE.Vector3()
      .addScaledVector(ahead, held("KeyW") - held("KeyS"))
      .addScaledVector(left, held("KeyA") - held("KeyD"));
    this.places.forEach((p) => p.addScaledVector(step, WALK * dt));
  }
}
