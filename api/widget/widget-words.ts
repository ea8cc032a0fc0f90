import type { CallState } from "../client/call-events.js";

/** What the widget says of itself. */
export const STATE_WORDS: Readonly<Record<CallState, string>> = {
  idle: "Press the button and speak.",
  connecting: "Connecting…",
  listening: "Listening",
  thinking: "Thinking…",
  speaking: "Speaking",
  reconnecting: "The connection was lost. Trying again…",
  ended: "The call has ended.",
};

export const WORDS = {
  open: "Talk to us",
  openInCall: "Talk to us: a call is in progress",
  close: "Close",
  start: "Start talking",
  hangUp: "Hang up",
  mute: "Mute",
  heading: "Talk to us",
  log: "What was said",
  unheard: "not heard",
  caller: "You",
  agent: "Agent",
} as const;
