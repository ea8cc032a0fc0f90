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

/** Where the visitor has no microphone that the agent could listen to. */
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
  writeInstead: "Until then, write below: you are answered all the same.",
  useMicrophone: "Try the microphone again",
  notBegun: "No call came about.",
  notAllowed: "This page may not call. Whoever runs the site can mend it.",
  unknownFault: "Something went wrong. Try again.",
} as const;
