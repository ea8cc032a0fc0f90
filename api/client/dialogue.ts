import type { Announcer } from "./announcer.js";
import type { CallEvents, CallState, Words } from "./call-events.js";
import type { ClientClock } from "./client-clock.js";

interface AgentTurn {
  readonly turn: number;
  readonly beganAtMs: number;
  isOver: boolean;
}

/** Tracks the words and turns of both sides from the server's messages, and reports them as events. */
export class Dialogue {
  readonly #events: Announcer<CallEvents>;
  readonly #clock: ClientClock;
  #state: CallState = "idle";
  #wordsId = 0;
  /** The words that are not final yet. */
  #open: { caller?: number; agent?: { id: number; text: string } } = {};
  #turnCount = 0;
  #turn: AgentTurn | undefined;
  #voiceAtMs: number | undefined;
  #wordsAtMs: number | undefined;

  constructor(events: Announcer<CallEvents>, clock: ClientClock) {
    this.#events = events;
    this.#clock = clock;
  }

  get state(): CallState {
    return this.#state;
  }

  enter(state: CallState): void {
    if (state === this.#state || this.#state === "ended") return;
    this.#state = state;
    this.#events.emit("state", state);
  }

  /** The microphone's audio seems to contain a voice. */
  voiceHeard(): void {
    this.#voiceAtMs = this.#clock.monotonicMs();
  }

  callerWords(text: string, isFinal: boolean): void {
    this.#open.caller ??= this.#newId();
    const id = this.#open.caller;
    this.#emitWords({ id, speaker: "caller", kind: isFinal ? "final" : "guess", text });
    if (!isFinal) {
      if (this.#state === "thinking") this.enter("listening");
      return;
    }
    delete this.#open.caller;
    this.#wordsAtMs = this.#clock.monotonicMs();
    if (this.#state === "listening") this.enter("thinking");
  }

  agentWords(text: string, isFinal: boolean): void {
    const open = this.#open.agent;
    if (isFinal) {
      delete this.#open.agent;
      const unheard = open === undefined ? "" : textBehind(open.text, text);
      const id = open?.id ?? this.#newId();
      this.#emitWords({ id, speaker: "agent", kind: "heard", text, unheard });
      return;
    }
    // Words that do not continue the open ones belong to another turn, and the caller heard none of the open ones.
    if (open !== undefined && !text.startsWith(open.text)) this.#settleUnheard();
    const id = this.#open.agent?.id ?? this.#newId();
    this.#open.agent = { id, text };
    this.#emitWords({ id, speaker: "agent", kind: "said", text });
  }

  /** Returns the number of the turn in this call. */
  turnBegun(): number {
    this.#endTurn("finished");
    const turn = ++this.#turnCount;
    this.#turn = { turn, beganAtMs: this.#clock.monotonicMs(), isOver: false };
    this.#events.emit("turn", { turn, phase: "begun" });
    return turn;
  }

  turnSounds(turn: number): void {
    const current = this.#turn;
    if (current === undefined || current.turn !== turn || current.isOver) return;
    const nowMs = this.#clock.monotonicMs();
    const since = (atMs: number | undefined) => (atMs === undefined ? undefined : nowMs - atMs);
    this.#events.emit("wait", {
      turn,
      sinceVoiceMs: since(this.#voiceAtMs),
      sinceWordsMs: since(this.#wordsAtMs),
      sinceAudioMs: nowMs - current.beganAtMs,
    });
    this.#voiceAtMs = undefined;
    this.#wordsAtMs = undefined;
    this.enter("speaking");
  }

  turnFinished(): void {
    this.#endTurn("finished");
  }

  turnInterrupted(): void {
    this.#endTurn("interrupted");
  }

  /** The connection was lost, or the call is over: open words stay as they are. */
  brokenOff(): void {
    this.#endTurn("interrupted");
    this.#settleUnheard();
    delete this.#open.caller;
  }

  #endTurn(phase: "finished" | "interrupted"): void {
    const current = this.#turn;
    if (current !== undefined && !current.isOver) {
      current.isOver = true;
      this.#events.emit("turn", { turn: current.turn, phase });
    }
    if (this.#state === "speaking") this.enter("listening");
  }

  #settleUnheard(): void {
    const open = this.#open.agent;
    if (open === undefined) return;
    delete this.#open.agent;
    const { id, text } = open;
    this.#emitWords({ id, speaker: "agent", kind: "heard", text: "", unheard: text });
  }

  #emitWords(words: Omit<Words, "unheard"> & { readonly unheard?: string }): void {
    this.#events.emit("words", { unheard: "", ...words });
  }

  #newId(): number {
    return ++this.#wordsId;
  }
}

/** The part of `whole` after `heard`, word by word: a cut may have changed the last character. */
function textBehind(whole: string, heard: string): string {
  if (whole.startsWith(heard)) return whole.slice(heard.length).trim();
  return whole.split(/\s+/).slice(heard.split(/\s+/).length).join(" ");
}
