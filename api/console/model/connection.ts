/** Whether the server can be reached, as far as this page has seen. */
export type Connection = "good" | "offline" | "unanswered";

const listeners = new Set<() => void>();
let isAnswering = true;

export function connection(): Connection {
  if (!navigator.onLine) return "offline";
  return isAnswering ? "good" : "unanswered";
}

/** Calls back when it changes. Gives back how to stop that. */
export function onConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whatever the server said: it is there. */
export function markOnline(): void {
  setAnswering(true);
}

export function answerMissed(): void {
  setAnswering(false);
}

function setAnswering(isAnsweringNow: boolean): void {
  if (isAnswering === isAnsweringNow) return;
  isAnswering = isAnsweringNow;
  notifyAll();
}

function notifyAll(): void {
  for (const listener of listeners) listener();
}

addEventListener("online", notifyAll);
addEventListener("offline", notifyAll);
