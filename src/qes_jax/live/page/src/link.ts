// The connection: it comes back by itself, and never queues what it sends.

import { Body, kindOf, Poses, readBodies, readPoses, Sample, writeSample } from "./wire";

export interface Piece {
  name: string;
  kind: string;
  body: number;
}

export interface Hello {
  rate: number;
  policy: string;
  scene: string;
  policies: string[];
  scenes: string[];
  kinds: string[];
  people: string[];
  links: string[];
  pieces: Piece[];
  home: { pos: number[][]; quat: number[][] };
}

export interface Status {
  phase: string;
  say: string;
  note: string;
  falls: number;
  recentred: number;
  missed: number;
  left_out: Record<string, number>;
  held: string[];
  person: string;
  recording: number;
  latency_ms: number;
  loading: string;
  driving: boolean;
  stance: { scale: number; yaw: number; place: number[]; floor: number };
}

export interface Listener {
  hello(hello: Hello): void;
  bodies(bodies: Body[]): void;
  poses(poses: Poses): void;
  status(status: Status): void;
  refused(why: string): void;
  connected(yes: boolean): void;
}

const FULL = 4096; // [bytes] waiting to be sent, above which a sample is left out
const AGAIN = 1000; // [ms] before the next try to connect

export class Link {
  private socket: WebSocket | null = null;
  private seq = 0;

  constructor(private listener: Listener) {
    this.connect();
  }

  private connect(): void {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/socket${location.search}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.socket = socket;
      this.listener.connected(true);
    };
    socket.onmessage = (event) => this.hear(event.data);
    socket.onclose = () => {
      this.socket = null;
      this.listener.connected(false);
      setTimeout(() => this.connect(), AGAIN);
    };
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const kind = kindOf(data);
      if (kind === 2) this.listener.bodies(readBodies(data));
      if (kind === 3) this.listener.poses(readPoses(data));
      return;
    }
    const words = JSON.parse(data);
    if (words.type === "hello") this.listener.hello(words);
    if (words.type === "status") this.listener.status(words);
    if (words.type === "refused") this.listener.refused(words.why);
  }

  /** Send where the user is, unless the last ones are still on their way. */
  send(sample: Omit<Sample, "seq">): void {
    if (!this.socket || this.socket.bufferedAmount > FULL) return;
    this.socket.send(writeSample({ ...sample, seq: this.seq++ }));
  }

  command(words: Record<string, unknown>): void {
    this.socket?.send(JSON.stringify(words));
  }
}
