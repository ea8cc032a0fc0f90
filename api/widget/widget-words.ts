import type { CallState } from "../client/call-events.js";

/** The texts of the widget itself. */
export const STATE_WORDS: Readonly<Record<CallState, string>> = {
  idle: "Press the button and speak.",
  connecting: "Connecting…",
  listening: "Listening",
  thinking: "Thinking…",
  speaking: "Speaking",
  reconnecting: "The connection was lost. Trying again…",
  ended: "The call has ended.",
};

/** The states' texts for a visitor without a microphone. */
export const WRITTEN_STATE_WORDS: typeof STATE_WORDS = {
  ...STATE_WORDS,
  listening: "Waiting for your words",
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
  write: "Write to the agent",
  send: "Send",
  writeInstead: "Until then, type below: you still get an answer.",
  useMicrophone: "Try the microphone again",
  notBegun: "The call could not be started.",
  notAllowed: "This page is not allowed to call. The site's owner can fix this.",
  unknownFault: "Something went wrong. Try again.",
} as const;
