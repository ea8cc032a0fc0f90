import type { CallError, CallErrorCode } from "./call-error.js";

/**
 * `idle`: not begun; `thinking`: the caller's words are understood and the agent has not begun to answer; `speaking`: the
 * agent is heard; `reconnecting`: the connection broke and is being made again; `ended`: for good.
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
  /** Good for 24 hours as `sessionId` of another call, which goes on with this conversation. */
  readonly historyKey: string;
  /** Its record's id, for who may read records; another one when the connection was made anew. */
  readonly callId: string;
  /** The connection had broken, and this call continues. */
  readonly isAgain: boolean;
}

/** What somebody says. Words with the same `id` replace each other until they are final. */
export interface Words {
  readonly id: number;
  readonly speaker: "caller" | "agent";
  /**
   * The caller's are a `guess` until they are `final`. The agent's are `said` when its voice is on its way, and `heard` when
   * it is known what of them the caller can have heard.
   */
  readonly kind: "guess" | "final" | "said" | "heard";
  readonly text: string;
  /** What the agent was going to say behind `text` and the caller never heard; empty unless it was interrupted. */
  readonly unheard: string;
}

/** A turn of the agent. Turns are counted over the whole call, also when its connection was made anew. */
export interface Turn {
  readonly turn: number;
  /** `begun`: its first audio has come; `interrupted`: the caller spoke, and it is silent from now on. */
  readonly phase: "begun" | "finished" | "interrupted";
}

/** How long the caller waited for the first sound of a turn, in ms; undefined where it did not follow any. */
export interface Wait {
  readonly turn: number;
  /** After the microphone's last voice: what the caller felt. */
  readonly sinceVoiceMs: number | undefined;
  /** After the words were final. */
  readonly sinceWordsMs: number | undefined;
  /** After the turn's first byte: what this client's buffer cost. */
  readonly sinceAudioMs: number;
}

/** From 0 (silence) to 1 (as loud as it can be), evenly to the ear. */
export interface Levels {
  readonly caller: number;
  readonly agent: number;
}

export interface MicrophoneChange {
  /** `muted`: by the system, or by a key of the machine. */
  readonly state: "open" | "muted" | "lost";
  readonly label: string;
  readonly deviceId: string;
}

/** What the page did for the agent, by `AgentCall.tool`. */
export interface ToolUse {
  readonly name: string;
  readonly ms: number;
  /** What was thrown; undefined when it was done. */
  readonly error: unknown;
}

export interface CallEnd {
  /** As in docs/reference/protocol.md; 1006 when the connection could not be had back. */
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
  /** The call may go on after it: `ended` says when it does not. */
  readonly fault: CallError;
  /** What was told as a fault of this code is over: its words may be taken away. */
  readonly mended: CallErrorCode;
  readonly ended: CallEnd;
}
