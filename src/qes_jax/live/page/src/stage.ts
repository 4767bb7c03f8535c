// The room, the body in it, the user's points, and a mirror. The scene's axes (Z up) are turned to those of three.

import * as THREE from "three";
import { Body, Poses } from "./wire";

const FADED = 0.25;
const SLOW = 400; // [ms] between pictures without a graphics card
const USER = 0xe8743b;
export const VIEWS = ["own eyes", "mirror", "behind"] as const;
export type View = (typeof VIEWS)[number];
const BEHIND = 2.0; // [m]
const MIRROR_AWAY = 1.6; // [m] from the user
const MIRROR_SIZE: [number, number] = [1.4, 2.1]; // [m]
const TURN = new THREE.Matrix4().set(0, -1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 1);

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(50, 1, 0.05, 60);
  readonly rig = new THREE.Group(); // the user's space; the camera of a headset is in it
  readonly room = new THREE.Group(); // the scene's axes
  readonly renderer: THREE.WebGLRenderer;
  bodies: THREE.Mesh[] = [];
  private objects: number[] = [];
  private points: THREE.Mesh[] = [];
  private image = new THREE.Group(); // the room's mirror image
  private glass: THREE.Mesh;
  private stance = { scale: 1, yaw: 0, place: [0, 0], floor: 0 };
  view: View = "own eyes";
  private fast: boolean;
  private drawn = 0;

  constructor(canvas: HTMLCanvasElement) {
    const fast = (this.fast = hasGraphicsCard());
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: fast, stencil: true, preserveDrawingBuffer: !fast });
    this.renderer.setPixelRatio(fast ? Math.min(devicePixelRatio, 2) : 1);
    this.renderer.xr.enabled = true;
    this.renderer.xr.setReferenceSpaceType("local-floor");
    this.renderer.shadowMap.enabled = fast;
    this.scene.background = new THREE.Color(0xe9edf2);
    this.scene.fog = new THREE.Fog(0xe9edf2, 8, 22);
    this.room.applyMatrix4(TURN);
    this.rig.add(this.camera);
    this.scene.add(this.room, this.rig, new THREE.HemisphereLight(0xffffff, 0xb0b8c4, 1.6), this.sun());
    this.room.add(floor());
    for (let i = 0; i < 3; i++) this.points.push(this.point(i));
    this.image.matrixAutoUpdate = false;
    this.glass = this.makeGlass();
    this.scene.add(this.image, this.glass);
    this.camera.position.set(1.8, 1.7, 2.6);
  }

  private sun(): THREE.DirectionalLight {
    const sun = new THREE.DirectionalLight(0xffffff, 1.8);
    sun.position.set(2, 6, 3);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    Object.assign(sun.shadow.camera, { left: -4, right: 4, top: 4, bottom: -4, near: 1, far: 14 });
    sun.shadow.bias = -0.002;
    return sun;
  }

  private point(i: number): THREE.Mesh {
    const material = new THREE.MeshStandardMaterial({ color: USER, transparent: true, opacity: 0.85 });
    const mesh = new THREE.Mesh(new THREE.SphereGeometry(i === 0 ? 0.06 : 0.045, 20, 14), material);
    mesh.userData.point = i;
    this.room.add(mesh);
    return mesh;
  }

  /** The meshes of the user's three points, to be dragged on a desktop. */
  get handles(): THREE.Mesh[] {
    return this.points;
  }

  private makeGlass(): THREE.Mesh {
    const material = new THREE.MeshBasicMaterial({ color: 0xf6f8fb, depthWrite: false });
    Object.assign(material, {
      stencilWrite: true,
      stencilRef: 1,
      stencilFunc: THREE.AlwaysStencilFunc,
      stencilZPass: THREE.ReplaceStencilOp,
    });
    const glass = new THREE.Mesh(new THREE.PlaneGeometry(...MIRROR_SIZE), material);
    const frame = new THREE.LineSegments(
      new THREE.EdgesGeometry(glass.geometry),
      new THREE.LineBasicMaterial({ color: 0x59636f }),
    );
    glass.add(frame);
    glass.renderOrder = 1;
    glass.visible = false;
    return glass;
  }

  setBodies(bodies: Body[]): void {
    for (const mesh of this.bodies) {
      mesh.geometry.dispose();
      mesh.removeFromParent();
    }
    this.image.clear();
    this.objects = bodies.map((b) => b.object);
    this.bodies = bodies.map((body, number) => {
      const mesh = new THREE.Mesh(geometryOf(body), new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.75 }));
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      mesh.userData.body = number;
      this.room.add(mesh);
      const twin = imageOf(mesh);
      if (number === 0) twin.onBeforeRender = (renderer) => renderer.clearDepth(); // what stands behind the glass
      this.image.add(twin);
      return mesh;
    });
  }

  /** Poses between two moments; faded where the body fell. */
  show(a: Poses, b: Poses, share: number, fallen: boolean): void {
    const rows = a.rows.length / 7;
    if (rows !== this.bodies.length + 3) return;
    [...this.bodies, ...this.points].forEach((mesh, i) => {
      mesh.position.lerpVectors(place(a, i), place(b, i), share);
      mesh.quaternion.slerpQuaternions(turn(a, i), turn(b, i), share);
    });
    this.bodies.forEach((mesh, i) => {
      if (this.objects[i] !== 0) return;
      const material = mesh.material as THREE.MeshStandardMaterial;
      material.transparent = fallen;
      material.opacity = fallen ? FADED : 1;
    });
  }

  setStance(stance: { scale: number; yaw: number; place: number[]; floor: number }): void {
    this.stance = stance;
    this.placeRig();
  }

  private placeRig(): void {
    const { scale, yaw, place: [x, y], floor } = this.stance;
    const back = this.view === "behind" && this.renderer.xr.isPresenting ? BEHIND : 0;
    if (!this.renderer.xr.isPresenting) {
      this.rig.position.set(0, 0, 0);
      this.rig.rotation.set(0, 0, 0);
      this.rig.scale.setScalar(1);
      return;
    }
    this.rig.position.set(-y, -floor * scale, -x + back);
    this.rig.rotation.set(0, yaw, 0);
    this.rig.scale.setScalar(scale);
  }

  /** Own eyes, a mirror before the user, or the body seen from behind. */
  look(view: View): void {
    this.view = view;
    this.placeRig();
    this.glass.visible = this.image.visible = view === "mirror";
    if (view !== "mirror") return;
    const head = new THREE.Vector3().setFromMatrixPosition(this.points[0].matrixWorld);
    const ahead = new THREE.Vector3(1, 0, 0).transformDirection(this.points[0].matrixWorld).setY(0).normalize();
    this.glass.position.copy(head).addScaledVector(ahead, MIRROR_AWAY).setY(MIRROR_SIZE[1] / 2);
    this.glass.lookAt(head.x, MIRROR_SIZE[1] / 2, head.z);
    const normal = ahead.clone().negate();
    this.image.matrix.copy(reflection(normal, this.glass.position)).multiply(TURN);
  }

  /** The head is not drawn where the camera is inside it. */
  hideHead(head: number, yes: boolean): void {
    if (this.bodies[head]) this.bodies[head].visible = !yes;
  }

  /** Draw, without a graphics card only now and then, so that poses still go out in time. */
  render(): void {
    const now = performance.now();
    if (!this.fast && now - this.drawn < SLOW) return;
    this.drawn = now;
    if (this.glass.visible) {
      this.bodies.forEach((mesh, i) => {
        const twin = this.image.children[i];
        twin.position.copy(mesh.position);
        twin.quaternion.copy(mesh.quaternion);
      });
    }
    this.renderer.render(this.scene, this.camera);
  }

  resize(width: number, height: number): void {
    if (this.renderer.xr.isPresenting) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }
}

/** Without one, shadows, smooth edges and most pictures are left out. */
function hasGraphicsCard(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  return !names || !/swiftshader|llvmpipe|software/i.test(String(gl?.getParameter(names.UNMASKED_RENDERER_WEBGL)));
}

function floor(): THREE.Group {
  const group = new THREE.Group();
  const plane = new THREE.Mesh(new THREE.PlaneGeometry(40, 40), new THREE.MeshStandardMaterial({ color: 0xd5dae0 }));
  plane.receiveShadow = true;
  const grid = new THREE.GridHelper(40, 40, 0xaab3bd, 0xc3cad2);
  grid.rotation.x = Math.PI / 2;
  grid.position.z = 0.002;
  group.add(plane, grid);
  return group;
}

function geometryOf(body: Body): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  const colors = new Float32Array((body.colors.length / 4) * 3);
  const color = new THREE.Color();
  for (let i = 0; i < colors.length / 3; i++) {
    const [r, g, b] = body.colors.subarray(4 * i, 4 * i + 3);
    color.setRGB(r / 255, g / 255, b / 255, THREE.SRGBColorSpace);
    colors.set([color.r, color.g, color.b], 3 * i);
  }
  geometry.setAttribute("position", new THREE.BufferAttribute(body.vertices, 3));
  geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  geometry.setIndex(new THREE.BufferAttribute(body.faces, 1));
  geometry.computeVertexNormals();
  return geometry;
}

/** The same mesh, drawn only where the glass is. */
function imageOf(mesh: THREE.Mesh): THREE.Mesh {
  const material = (mesh.material as THREE.MeshStandardMaterial).clone();
  Object.assign(material, { stencilWrite: true, stencilRef: 1, stencilFunc: THREE.EqualStencilFunc });
  const image = new THREE.Mesh(mesh.geometry, material);
  image.renderOrder = 2;
  image.frustumCulled = false;
  return image;
}

function reflection(n: THREE.Vector3, at: THREE.Vector3): THREE.Matrix4 {
  const d = 2 * n.dot(at);
  const [x, y, z] = [n.x, n.y, n.z];
  return new THREE.Matrix4().set(
    1 - 2 * x * x, -2 * x * y, -2 * x * z, d * x,
    -2 * x * y, 1 - 2 * y * y, -2 * y * z, d * y,
    -2 * x * z, -2 * y * z, 1 - 2 * z * z, d * z,
    0, 0, 0, 1,
  );
}

function place(poses: Poses, i: number): THREE.Vector3 {
  return new THREE.Vector3().fromArray(poses.rows, 7 * i);
}

function turn(poses: Poses, i: number): THREE.Quaternion {
  const [w, x, y, z] = poses.rows.subarray(7 * i + 3, 7 * i + 7);
  return new THREE.Quaternion(x, y, z, w);
}
