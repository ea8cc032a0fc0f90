import type { Received } from "../../../engine/sandbox/caller-events.js";
import { mp3DurationMs } from "../../../engine/sandbox/sound/mp3-decoder.js";
import { durationText, preciseMs, sizeText } from "../measures.js";
import { printable, type Style, type Terminal } from "../terminal.js";
import { folded } from "../text-table.js";
import type { CallReport, Display } from "./display.js";
import type { FrameMeasures } from "./frame-meter.js";
import type { Turn } from "./turn.js";
import { printTurns } from "./turn-table.js";

const TIME_CHARACTERS = 8;
const LABEL_CHARACTERS = 10;
const GAP = "  ";
const INDENT = TIME_CHARACTERS + LABEL_CHARACTERS + 2 * GAP.length;

/**
 * Output for people: one line per event, with the seconds since the call began, and a table of the turns at the end.
 */
export class CallScreen implements Display {
  readonly #terminal: Terminal;
  #beganNs = 0n;
  #url = "";
  /** Nothing is shown before the connection is open; the command itself reports why a call was refused. */
  #isConnected = false;
  /** The text of the current reply that is already on screen. */
  #shown = "";

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  dialled(url: string, atNs: bigint): void {
    this.#beganNs = atNs;
    this.#url = url;
  }

  received(event: Received, turn: Turn | undefined): void {
    const { atNs } = event;
    if (!this.#isConnected && event.type !== "connected") return;
    switch (event.type) {
      case "connected":
        this.#isConnected = true;
        this.#line(atNs, "connected", "bold", `${event.agentName} at ${this.#url}`);
        return;
      case "transcript":
        this.#transcript(event.payload, atNs);
        return;
      case "audio":
        this.#line(atNs, "audio", "dim", audioText(event.sound, turn));
        return;
      case "audioStart":
        this.#line(atNs, "audioStart", "dim", `${event.encoding} at ${event.sampleRateHz} Hz`);
        return;
      case "audioStop":
        this.#line(atNs, "audioStop", "yellow", "the agent falls silent");
        return;
      case "audioEnd":
        this.#line(atNs, "audioEnd", "dim", "");
        return;
      case "error":
        this.#line(atNs, "error", "red", event.payload.message);
        return;
      case "unreadable":
        this.#line(atNs, "unreadable", "red", event.text);
        return;
      case "closed":
        this.#line(atNs, "closed", "dim", `${event.code} ${event.reason}`);
        return;
    }
  }

  vendorSaid(number: string, status: string, atNs: bigint): void {
    this.#line(atNs, "vendor", "dim", `${number} ${status}`);
  }

  speaking(turn: Turn, atNs: bigint): void {
    this.#terminal.print();
    const label = turn.kind === "interrupt" ? "interrupt" : "say";
    this.#line(atNs, label, turn.kind === "interrupt" ? "yellow" : "cyan", `"${turn.said}"`);
  }

  fellSilent({ silencedAfterMs = 0 }: Turn): void {
    const after = durationText(silencedAfterMs);
    this.#line(undefined, "", "dim", `audioStop came ${after} after the interruption began`);
  }

  turnOver(turn: Turn): void {
    const heard = turn.heard === undefined || turn.heard === "" ? "(nothing)" : turn.heard;
    const isAsSaid = turn.heard === turn.transcript || turn.frames !== undefined;
    this.#line(undefined, "heard:", isAsSaid ? "green" : "dim", heard);
    if (turn.frames !== undefined) this.#line(undefined, "", "dim", framesText(turn.frames));
  }

  ended(report: CallReport): void {
    this.#terminal.print();
    printTurns(this.#terminal, report);
  }

  #transcript(
    { role, text, isFinal }: { role: "user" | "assistant"; text: string; isFinal: boolean },
    atNs: bigint,
  ): void {
    const isUser = role === "user";
    if (isFinal) {
      if (!isUser) this.#shown = "";
      this.#line(atNs, isUser ? "you" : "agent", isUser ? "cyan" : "green", text);
    } else if (isUser) this.#line(atNs, "you …", "dim", text, "dim");
    else {
      const added = text.startsWith(this.#shown) ? text.slice(this.#shown.length) : text;
      this.#shown = text;
      this.#line(atNs, "agent …", "dim", added, "dim");
    }
  }

  #line(atNs: bigint | undefined, label: string, style: Style, text: string, textStyle?: Style) {
    const seconds = atNs === undefined ? "" : this.#seconds(atNs);
    const time = this.#terminal.paint("dim", seconds.padStart(TIME_CHARACTERS));
    const name = this.#terminal.paint(style, label.padEnd(LABEL_CHARACTERS));
    const { columns } = this.#terminal;
    const lines = folded(printable(text), columns === undefined ? undefined : columns - INDENT);
    const body = lines
      .map((line) => (textStyle === undefined ? line : this.#terminal.paint(textStyle, line)))
      .join(`\n${" ".repeat(INDENT)}`);
    this.#terminal.print(`${time}${GAP}${name}${GAP}${body}`.trimEnd());
  }

  #seconds(atNs: bigint): string {
    return `${(Number(atNs - this.#beganNs) / 1e9).toFixed(3)} s`;
  }
}

function framesText({ count, bytes, jitterMs, longestGapMs }: FrameMeasures): string {
  const about = `${count} frames of 20 ms, ${sizeText(bytes)}`;
  if (jitterMs === undefined || longestGapMs === undefined) return about;
  const gap = durationText(longestGapMs);
  return `${about}, jitter ${preciseMs(jitterMs)}, at most ${gap} between two`;
}

function audioText(sound: Uint8Array, turn: Turn | undefined): string {
  const about =
    turn?.isStreamed === true
      ? "the agent is heard"
      : `${sizeText(sound.length)}, ${durationText(mp3DurationMs(sound))} of sound`;
  if (turn?.latencyMs === undefined || turn.pieces.length > 1) return about;
  return `${about}, the first ${durationText(turn.latencyMs)} after your last word`;
}
