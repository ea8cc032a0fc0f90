import type { CallError, CallErrorCode } from "./call-error.js";

/**
 * `idle`: not started; `thinking`: the caller's words are understood and the agent has not begun to answer; `speaking`:
 * the agent's audio is playing; `reconnecting`: the connection was lost and is being reopened; `ended`: the call will
 * not continue.
 */
export type CallState =
  | "idle"
  | "connecting"
  | "listening"
  | "thinking"
  | "speaking"
  | "reconnecting"
  | "ended";

export interface Connected {
  readonly agentName: string;
  /** Valid for 24 hours as `sessionId` of another call, which continues this conversation. */
  readonly historyKey: string;
  /** The id of the call record; a new one after a reconnect. */
  readonly callId: string;
  /** The connection had broken, and this call continues. */
  readonly isAgain: boolean;
}

/** Words of either side. Words with the same `id` replace each other until they are final. */
export interface Words {
  readonly id: number;
  readonly speaker: "caller" | "agent";
  /**
   * The caller's words are a `guess` until they are `final`. The agent's are `said` when their audio has been sent, and
   * `heard` when it is known what the caller can have heard.
   */
  readonly kind: "guess" | "final" | "said" | "heard";
  readonly text: string;
  /** The agent's words after `text` that the caller never heard; empty unless the agent was interrupted. */
  readonly unheard: string;
}

/** A turn of the agent. Turns are counted over the whole call, including reconnects. */
export interface Turn {
  readonly turn: number;
  /**
   * `begun`: the turn's first audio has arrived; `interrupted`: the caller spoke, and the agent's audio has stopped.
   */
  readonly phase: "begun" | "finished" | "interrupted";
}

/** How long the caller waited for the first sound of a turn, in ms; undefined if nothing preceded it. */
export interface Wait {
  readonly turn: number;
  /** Since the microphone last detected a voice: the wait as the caller perceived it. */
  readonly sinceVoiceMs: number | undefined;
  /** Since the caller's words were final. */
  readonly sinceWordsMs: number | undefined;
  /** Since the turn's first byte: the delay of this client's buffer. */
  readonly sinceAudioMs: number;
}

/** From 0 (silence) to 1 (full scale), perceptually even. */
export interface Levels {
  readonly caller: number;
  readonly agent: number;
}

export interface MicrophoneChange {
  /** The microphone was muted by the system, or by a mute key. */
  readonly state: "open" | "muted" | "lost";
  readonly label: string;
  readonly deviceId: string;
}

/** A tool that the page ran for the agent, through `AgentCall.tool`. */
export interface ToolUse {
  readonly name: string;
  readonly ms: number;
  /** The exception; undefined if it succeeded. */
  readonly error: unknown;
}

export interface CallEnd {
  /** A close code of docs/reference/protocol.md; 1006 if the connection could not be restored. */
  readonly code: number;
  readonly reason: string;
}

export interface CallEvents {
  readonly state: CallState;
  readonly connected: Connected;
  readonly words: Words;
  readonly turn: Turn;
  readonly wait: Wait;
  readonly levels: Levels;
  readonly microphone: MicrophoneChange;
  readonly tool: ToolUse;
  /** The call may continue: `ended` reports if it does not. */
  readonly fault: CallError;
  /** The fault with this code is over: its message may be hidden. */
  readonly mended: CallErrorCode;
  readonly ended: CallEnd;
}
