// The page: what arrives is drawn, where the user is goes out.

import * as THREE from "three";
import { Board } from "./board";
import { Furniture } from "./furniture";
import { canEnter, Headset } from "./headset";
import { Hello, Link, Status } from "./link";
import { Mouse } from "./mouse";
import { Panel, sayings } from "./panel";
import { Puppet } from "./puppet";
import { Smooth } from "./smooth";
import { Stage, VIEWS } from "./stage";
import { FLAGS } from "./wire";

const SEND_EVERY = 14; // [ms] of a desktop's samples
const stage = new Stage(document.getElementById("canvas") as HTMLCanvasElement);
const smooth = new Smooth();
const puppet = new Puppet();
const board = new Board();
stage.scene.add(board.mesh);
let headset: Headset | null = null;
let status: Status | null = null;
let head = -1; // number of the head among the bodies
let home: Hello["home"] | null = null;

const link = new Link({
  hello: (hello) => {
    panel.hello(hello);
    head = hello.links.indexOf("head");
    home = hello.home;
    puppet.stand(home.pos, home.quat);
    furniture.set(hello.pieces);
  },
  bodies: (bodies) => {
    stage.setBodies(bodies);
    smooth.clear();
  },
  poses: (poses) => smooth.add(poses, performance.now() / 1000),
  status: (now) => {
    status = now;
    panel.status(now);
    stage.setStance(now.stance);
    board.say(sayings(now));
  },
  refused: (why) => panel.say(why),
  connected: (yes) => panel.connected(yes),
});
const command = (words: Record<string, unknown>) => link.command(words);
const panel = new Panel(command);
const furniture = new Furniture(stage, command);
const mouse = new Mouse(
  stage,
  {
    point: (point, by) => puppet.drag(point, toDevice(by)),
    piece: (body, x, y, turn) => furniture.move(body, x, y, turn),
  },
  () => ({ points: puppet.active, pieces: furniture.movable }),
);

/** A step in the scene as the user's own space has it. */
function toDevice(by: THREE.Vector3): THREE.Vector3 {
  const { yaw, scale } = status?.stance ?? { yaw: 0, scale: 1 };
  return by.clone().applyAxisAngle(new THREE.Vector3(0, 1, 0), -yaw).divideScalar(scale);
}

function nextView(): void {
  const view = VIEWS[(VIEWS.indexOf(stage.view) + 1) % VIEWS.length];
  stage.look(view);
  button("view").textContent = `view: ${view}`;
}

function button(id: string): HTMLButtonElement {
  return document.getElementById(id) as HTMLButtonElement;
}

button("view").addEventListener("click", nextView);
button("mouse").addEventListener("click", () => {
  puppet.active = !puppet.active;
  if (puppet.active && home) puppet.stand(home.pos, home.quat);
  button("mouse").textContent = puppet.active ? "let go" : "move by mouse";
});
button("enter").addEventListener("click", async () => {
  try {
    const entered = await Headset.enter(stage.renderer, {
      view: nextView,
      stand: () => command({ do: "reset" }),
      calibrate: () => command({ do: "calibrate", name: (document.getElementById("name") as HTMLInputElement).value || "guest" }),
      record: () => command({ do: "record" }),
      grab: (hand, down) => furniture.grab(1 + hand, stage.handles[1 + hand], down),
    });
    headset = entered;
    puppet.active = false;
    document.body.dataset.vr = "yes";
    entered.session.addEventListener("end", () => {
      headset = null;
      document.body.dataset.vr = "no";
      link.send({ t: performance.now() / 1000, visible: false, buttons: 0, points: [null, null, null] });
      stage.setStance(status?.stance ?? { scale: 1, yaw: 0, place: [0, 0], floor: 0 });
      fit();
    });
  } catch (error) {
    panel.say(`VR could not start: ${error instanceof Error ? error.message : error}`);
  }
});

async function offer(): Promise<void> {
  const why = await canEnter();
  button("enter").disabled = why !== "";
  button("enter").title = why;
  document.getElementById("why")!.textContent = why;
}

function fit(): void {
  stage.resize(innerWidth, innerHeight);
}

function draw(time: number, frame?: XRFrame): void {
  const now = performance.now();
  if (headset && frame) link.send(headset.read(time, frame));
  const fallen = ((smooth.newest?.flags ?? 0) & FLAGS.fallen) !== 0;
  smooth.at(now / 1000, (a, b, share) => stage.show(a, b, share, fallen));
  stage.hideHead(head, headset !== null && stage.view === "own eyes");
  furniture.update(now, stage.handles);
  if (headset) board.follow(stage.renderer.xr.getCamera().matrixWorld);
  else mouse.orbit.update();
  board.mesh.visible &&= headset !== null;
  stage.render();
}

setInterval(() => !headset && puppet.active && home && link.send(puppet.read(performance.now())), SEND_EVERY);
setInterval(() => smooth.newest && panel.error(smooth.newest.error), 250);
addEventListener("resize", fit);
navigator.xr?.addEventListener("devicechange", offer);
offer();
fit();
stage.look("own eyes");
stage.renderer.setAnimationLoop(draw);
