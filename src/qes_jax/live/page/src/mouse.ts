// The mouse on a desktop: orbit, drag the user's points, move and turn furniture.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Stage } from "./stage";

export interface Drags {
  point(point: number, by: THREE.Vector3): void; // by [m] in three's axes
  piece(body: number, x: number, y: number, turn: number): void; // [m], [rad] more, in the scene's axes
}

export class Mouse {
  readonly orbit: OrbitControls;
  private ray = new THREE.Raycaster();
  private held: { mesh: THREE.Object3D; plane: THREE.Plane; last: THREE.Vector3 } | null = null;

  constructor(
    private stage: Stage,
    private drags: Drags,
    private mayMove: () => { points: boolean; pieces: Set<number> },
  ) {
    const canvas = stage.renderer.domElement;
    this.orbit = new OrbitControls(stage.camera, canvas);
    this.orbit.target.set(0, 0.9, 0);
    this.orbit.maxPolarAngle = 1.55;
    this.orbit.update();
    canvas.addEventListener("pointerdown", (e) => this.down(e), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.move(e));
    addEventListener("pointerup", () => this.up());
    canvas.addEventListener("wheel", (e) => this.wheel(e), { capture: true, passive: false });
  }

  private aim(e: PointerEvent | WheelEvent): void {
    const box = this.stage.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (e.clientX - box.x)) / box.width - 1, 1 - (2 * (e.clientY - box.y)) / box.height);
    this.ray.setFromCamera(at, this.stage.camera);
  }

  private pick(): THREE.Intersection | undefined {
    const may = this.mayMove();
    const pieces = this.stage.bodies.filter((mesh) => may.pieces.has(mesh.userData.body));
    const near = may.points ? this.ray.intersectObjects(this.stage.handles, false)[0] : undefined;
    return near ?? this.ray.intersectObjects(pieces, false)[0];
  }

  private down(e: PointerEvent): void {
    if (e.button !== 0) return;
    this.aim(e);
    const hit = this.pick();
    if (!hit) return;
    const point = hit.object.userData.point !== undefined;
    const normal = point ? this.stage.camera.getWorldDirection(new THREE.Vector3()) : new THREE.Vector3(0, 1, 0);
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, hit.point);
    this.held = { mesh: hit.object, plane, last: hit.point.clone() };
    this.orbit.enabled = false;
    e.stopPropagation();
  }

  private move(e: PointerEvent): void {
    if (!this.held) return;
    this.aim(e);
    const at = this.ray.ray.intersectPlane(this.held.plane, new THREE.Vector3());
    if (!at) return;
    const by = at.clone().sub(this.held.last);
    this.held.last = at;
    const { point, body } = this.held.mesh.userData;
    if (point !== undefined) this.drags.point(point, by);
    else this.drags.piece(body, -by.z, -by.x, 0);
  }

  private wheel(e: WheelEvent): void {
    if (!this.held || this.held.mesh.userData.body === undefined) return;
    this.drags.piece(this.held.mesh.userData.body, 0, 0, e.deltaY > 0 ? 0.13 : -0.13);
    e.preventDefault();
    e.stopPropagation();
  }

  private up(): void {
    this.held = null;
    this.orbit.enabled = true;
  }
}
