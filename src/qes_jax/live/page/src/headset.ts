// A headset's session: enter, read where the user is in each frame, buttons, leave.

import { Pose, RECENTRED, Sample } from "./wire";

/** What the controllers' buttons do; each is called once a press. */
export interface Buttons {
  view(): void; // right A
  stand(): void; // right B
  calibrate(): void; // left X
  record(): void; // left Y
  grab(hand: number, down: boolean): void; // trigger of the left 0 or right 1 hand
}

const TRIGGER = 0;
const LOWER = 4;
const UPPER = 5;

export async function canEnter(): Promise<string> {
  if (!window.isSecureContext) return "VR needs https, or localhost: see docs/live.md";
  if (!navigator.xr) return "this browser has no WebXR";
  const yes = await navigator.xr.isSessionSupported("immersive-vr").catch(() => false);
  return yes ? "" : "no headset is connected";
}

export class Headset {
  private recentred = 0; // samples that still say so
  private pressed = new Set<string>();
  private known = new Set<number>(); // points whose position was measured, not guessed

  private constructor(
    readonly session: XRSession,
    private space: XRReferenceSpace,
    private buttons: Buttons,
  ) {
    space.addEventListener("reset", () => (this.recentred = 3));
  }

  static async enter(renderer: { xr: { setSession(s: XRSession): Promise<void>; getReferenceSpace(): XRReferenceSpace | null } }, buttons: Buttons): Promise<Headset> {
    const session = await navigator.xr!.requestSession("immersive-vr", { requiredFeatures: ["local-floor"] });
    await renderer.xr.setSession(session);
    const space = renderer.xr.getReferenceSpace() ?? (await session.requestReferenceSpace("local-floor"));
    return new Headset(session, space, buttons);
  }

  /** Where headset and controllers are in this frame. */
  read(time: number, frame: XRFrame): Omit<Sample, "seq"> {
    const viewer = frame.getViewerPose(this.space);
    const points: Pose[] = [viewer ? this.seen(0, viewer) : null, null, null];
    for (const source of this.session.inputSources) {
      const hand = ["left", "right"].indexOf(source.handedness);
      if (hand < 0) continue;
      const pose = source.gripSpace && frame.getPose(source.gripSpace, this.space);
      if (pose) points[1 + hand] = this.seen(1 + hand, pose);
      this.press(hand, source.gamepad);
    }
    const visible = this.session.visibilityState === "visible";
    const buttons = this.recentred > 0 ? RECENTRED : 0;
    this.recentred = Math.max(0, this.recentred - 1);
    return { t: time / 1000, visible, buttons, points };
  }

  /** A position that is guessed is none, unless this device has only such. */
  private seen(point: number, pose: XRPose): Pose {
    if (!pose.emulatedPosition) this.known.add(point);
    return pose.emulatedPosition && this.known.has(point) ? null : poseOf(pose.transform);
  }

  private press(hand: number, gamepad: Gamepad | undefined): void {
    const once = (button: number, act: (down: boolean) => void) => {
      const key = `${hand}/${button}`;
      const down = gamepad?.buttons[button]?.pressed ?? false;
      if (down === this.pressed.has(key)) return;
      if (down) this.pressed.add(key);
      else this.pressed.delete(key);
      act(down);
    };
    once(TRIGGER, (down) => this.buttons.grab(hand, down));
    once(LOWER, (down) => down && (hand === 1 ? this.buttons.view() : this.buttons.calibrate()));
    once(UPPER, (down) => down && (hand === 1 ? this.buttons.stand() : this.buttons.record()));
  }
}

function poseOf(transform: XRRigidTransform): Pose {
  const { position: p, orientation: q } = transform;
  return { p: [p.x, p.y, p.z], q: [q.x, q.y, q.z, q.w] };
}
