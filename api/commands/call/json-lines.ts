import type { Received } from "../../../engine/sandbox/caller-events.js";
import type { Terminal } from "../terminal.js";
import type { CallReport, Display } from "./display.js";
import type { Turn } from "./turn.js";

/** For programs: one JSON object a line, each with `type` and the milliseconds since the call began. */
export class JsonLines implements Display {
  readonly #terminal: Terminal;
  #beganNs = 0n;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  dialled(url: string, atNs: bigint): void {
    this.#beganNs = atNs;
    this.#write("dialled", atNs, { url });
  }

  received(event: Received, turn: Turn | undefined): void {
    const { type, atNs } = event;
    switch (event.type) {
      case "audio":
        this.#write(type, atNs, { turn: turn?.number, bytes: event.sound.length });
        return;
      case "connected":
        this.#write(type, atNs, { agentName: event.agentName, historyKey: event.historyKey });
        return;
      case "transcript":
      case "error":
        this.#write(type, atNs, { payload: event.payload });
        return;
      case "audioStart": {
        const { turnId, encoding, sampleRateHz } = event;
        this.#write(type, atNs, { turnId, encoding, sampleRateHz });
        return;
      }
      case "unreadable":
        this.#write(type, atNs, { text: event.text });
        return;
      case "closed":
        this.#write(type, atNs, { code: event.code, reason: event.reason });
        return;
      case "audioStop":
      case "audioEnd":
        this.#write(type, atNs, { turn: turn?.number });
        return;
    }
  }

  vendorSaid(number: string, status: string, atNs: bigint): void {
    this.#write("vendor", atNs, { number, status });
  }

  speaking(turn: Turn, atNs: bigint): void {
    this.#write("speaking", atNs, { turn: turn.number, kind: turn.kind, text: turn.said });
  }

  fellSilent({ number, silencedAfterMs }: Turn): void {
    const fields = { turn: number, silencedAfterMs: rounded(silencedAfterMs) };
    this.#write("silenced", process.hrtime.bigint(), fields);
  }

  turnOver(turn: Turn): void {
    this.#write("turn", process.hrtime.bigint(), described(turn));
  }

  ended({ historyKey, replyHeard, turns }: CallReport): void {
    const fields = { historyKey, replyHeard, turns: turns.map(described) };
    this.#write("ended", process.hrtime.bigint(), fields);
  }

  #write(type: string, atNs: bigint, fields: object): void {
    const atMs = rounded(Number(atNs - this.#beganNs) / 1e6);
    this.#terminal.print(JSON.stringify({ atMs, type, ...fields }));
  }
}

function described(turn: Turn) {
  const { number, kind, said, outcome, transcript, heard, latencyMs, silencedAfterMs } = turn;
  const { count: frames, bytes, jitterMs, longestGapMs } = turn.frames ?? {};
  return {
    turn: number,
    kind,
    said,
    outcome,
    transcript,
    heard,
    latencyMs: rounded(latencyMs),
    silencedAfterMs: rounded(silencedAfterMs),
    frames,
    bytes,
    jitterMs: rounded(jitterMs),
    longestGapMs: rounded(longestGapMs),
  };
}

function rounded(valueMs: number): number;
function rounded(valueMs: number | undefined): number | undefined;
function rounded(valueMs: number | undefined): number | undefined {
  return valueMs === undefined ? undefined : Math.round(valueMs * 10) / 10;
}
