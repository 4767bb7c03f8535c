// A few words before the eyes of whoever wears a headset, where the page's own are not seen.

import * as THREE from "three";

const [WIDTH, HEIGHT] = [1024, 192];
const AHEAD = 1.3; // [m]
const BELOW = 0.35; // [m]

export class Board {
  readonly mesh: THREE.Mesh;
  private canvas = document.createElement("canvas");
  private texture: THREE.CanvasTexture;
  private text = "";

  constructor() {
    [this.canvas.width, this.canvas.height] = [WIDTH, HEIGHT];
    this.texture = new THREE.CanvasTexture(this.canvas);
    const material = new THREE.MeshBasicMaterial({ map: this.texture, transparent: true, depthTest: false, fog: false });
    this.mesh = new THREE.Mesh(new THREE.PlaneGeometry(1, HEIGHT / WIDTH), material);
    this.mesh.renderOrder = 10;
    this.mesh.visible = false;
  }

  say(text: string): void {
    if (text === this.text) return;
    this.text = text;
    const pen = this.canvas.getContext("2d")!;
    pen.clearRect(0, 0, WIDTH, HEIGHT);
    this.mesh.visible = text !== "";
    pen.fillStyle = "rgba(24, 30, 38, 0.78)";
    pen.roundRect(0, 0, WIDTH, HEIGHT, 40);
    pen.fill();
    pen.fillStyle = "#fff";
    pen.textAlign = "center";
    const lines = wrap(text, 46).slice(0, 3);
    pen.font = `${lines.length > 2 ? 40 : 46}px sans-serif`;
    lines.forEach((line, i) => pen.fillText(line, WIDTH / 2, HEIGHT / 2 + 16 + 52 * (i - (lines.length - 1) / 2)));
    this.texture.needsUpdate = true;
  }

  /** Before a head at this matrix, upright. */
  follow(head: THREE.Matrix4): void {
    const at = new THREE.Vector3().setFromMatrixPosition(head);
    const ahead = new THREE.Vector3(0, 0, -1).transformDirection(head).setY(0).normalize();
    this.mesh.position.lerp(at.clone().addScaledVector(ahead, AHEAD).setY(at.y - BELOW), 0.15);
    this.mesh.lookAt(at);
  }
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}
