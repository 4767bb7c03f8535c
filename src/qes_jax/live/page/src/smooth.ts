// Poses arrive unevenly and on the server's clock; they are drawn a margin later, between the two around that moment.

import { Poses } from "./wire";

const WINDOW = 150; // messages over which delays are measured
const MOST = 0.15; // [s] of the margin

export class Smooth {
  private poses: Poses[] = [];
  private delays: number[] = [];
  private margin = 0;

  add(poses: Poses, now: number): void {
    if (this.poses.length && poses.t < this.poses[this.poses.length - 1].t) this.clear();
    if (this.poses.length && poses.rows.length !== this.poses[0].rows.length) this.clear();
    this.poses = [...this.poses.slice(-15), poses];
    this.delays = [...this.delays.slice(-WINDOW), now - poses.t];
    const sorted = [...this.delays].sort((a, b) => a - b);
    const late = sorted[Math.floor(0.95 * (sorted.length - 1))] - sorted[0];
    const wanted = Math.min(MOST, late + 1 / 36);
    this.margin = Math.max(wanted, this.margin - 0.001);
  }

  clear(): void {
    this.poses = [];
    this.delays = [];
    this.margin = 0;
  }

  get newest(): Poses | undefined {
    return this.poses[this.poses.length - 1];
  }

  /** Calls draw with the poses around now [s] and how far it is from the one to the other. */
  at(now: number, draw: (a: Poses, b: Poses, share: number) => void): void {
    if (!this.poses.length) return;
    const t = now - Math.min(...this.delays) - this.margin;
    const after = this.poses.findIndex((p) => p.t > t);
    if (after <= 0) {
      const only = after === 0 ? this.poses[0] : this.newest!;
      draw(only, only, 0);
      return;
    }
    const [a, b] = [this.poses[after - 1], this.poses[after]];
    draw(a, b, (t - a.t) / (b.t - a.t));
  }
}
