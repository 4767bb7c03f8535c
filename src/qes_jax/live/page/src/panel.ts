// The page's own words and buttons.

import { Hello, Status } from "./link";

type Command = (words: Record<string, unknown>) => void;

const byId = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const PHASES: Record<string, string> = { live: "following", still: "waiting for you to stand", away: "away" };

export class Panel {
  constructor(command: Command) {
    const press = (id: string, act: () => void) => byId<HTMLButtonElement>(id).addEventListener("click", act);
    const name = () => byId<HTMLInputElement>("name").value || "guest";
    press("calibrate", () => command({ do: "calibrate", name: name() }));
    press("person", () => command({ do: "person", name: name() }));
    press("floor", () => command({ do: "floor" }));
    press("recentre", () => command({ do: "recentre" }));
    press("reset", () => command({ do: "reset" }));
    press("pause", () => command({ do: "pause" }));
    press("record", () => command({ do: "record" }));
    press("save", () => command({ do: "save", name: byId<HTMLInputElement>("room").value || "room" }));
    press("add", () => command({ do: "add", kind: byId<HTMLSelectElement>("kind").value }));
    press("remove", () => command({ do: "remove", name: byId<HTMLSelectElement>("piece").value }));
    for (const what of ["policy", "scene"]) {
      const list = byId<HTMLSelectElement>(what);
      list.addEventListener("change", () => command({ do: what, name: list.value }));
    }
  }

  hello(hello: Hello): void {
    fill("policy", hello.policies, hello.policy);
    fill("scene", hello.scenes.includes(hello.scene) ? hello.scenes : [hello.scene, ...hello.scenes], hello.scene);
    fill("kind", hello.kinds, hello.kinds[0]);
    fill("piece", hello.pieces.map((p) => p.name), "");
    byId("people").replaceChildren(...hello.people.map((p) => new Option(p)));
  }

  status(status: Status): void {
    document.body.dataset.phase = status.phase;
    document.body.dataset.held = status.held.join(",");
    byId("phase").textContent = PHASES[status.phase] ?? status.phase;
    byId("say").textContent = sayings(status);
    byId("note").textContent = status.note;
    const left = Object.entries(status.left_out).filter(([, n]) => n > 0);
    const rows: [string, string][] = [
      ["falls", `${status.falls}`],
      ["device moved its origin", `${status.recentred}`],
      ["behind you", `${status.latency_ms} ms`],
      ["measured as", status.person || "nobody: eyes' height alone"],
      ["messages left out", left.map(([why, n]) => `${n} ${why}`).join(", ") || "none"],
      ["ticks too late", `${status.missed}`],
    ];
    byId("numbers").replaceChildren(...rows.flatMap(([k, v]) => [cell("dt", k), cell("dd", v)]));
    byId("pause").textContent = status.phase === "paused" ? "go on" : "pause";
    byId("record").textContent = status.recording > 0 ? `stop recording (${status.recording.toFixed(0)} s)` : "record";
  }

  say(text: string): void {
    byId("note").textContent = text;
  }

  connected(yes: boolean): void {
    document.body.dataset.connected = yes ? "yes" : "no";
    if (!yes) {
      byId("phase").textContent = "not connected";
      byId("say").textContent = "the server is gone; trying again";
    }
  }

  error(metres: number): void {
    byId("error").textContent = `${(100 * metres).toFixed(1)} cm`;
  }
}

/** What there is to tell, in one line. */
export function sayings(status: Status): string {
  if (status.loading) return `loading ${status.loading}`;
  if (status.say) return status.say;
  if (status.held.length === 3) return "your device is not heard of in time";
  return status.held.length ? `not seen: ${status.held.join(", ")}` : "";
}

function fill(id: string, words: string[], chosen: string): void {
  byId(id).replaceChildren(...words.map((w) => new Option(w, w, w === chosen, w === chosen)));
}

function cell(tag: string, text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
