import type { InferOutput } from "valibot";
import type { CALL_EVENTS } from "../../contract/call-events.js";
import { faultOf, fetchAsUser } from "./api.js";
import { after } from "./browser-clock.js";
import { SERVER_URL } from "./server-address.js";
import { serverEvents } from "./server-events.js";

type Events = typeof CALL_EVENTS;

/** An event of a watched call as the server sends it. */
export type CallEvent = {
  [Name in keyof Events]: { readonly name: Name; readonly data: InferOutput<Events[Name]> };
}[keyof Events];

const NAMES: ReadonlySet<string> = new Set<CallEvent["name"]>([
  "watching",
  "began",
  "present",
  "muted",
  "words",
  "bargeIn",
  "endOfTurn",
  "turn",
  "ended",
  "pulse",
]);
const AGAIN_AFTER_MS = 3_000;

/**
 * Reports events of the path's calls until the signal aborts; a stream that ends is reopened, at once if it ended
 * normally. `undefined` means that no events arrive at the moment. Only while the page is visible.
 */
export function watchCalls(
  path: `/api/dashboard/calls/${string}`,
  tell: (event: CallEvent | undefined) => void,
  signal: AbortSignal,
): void {
  let shown = new AbortController();
  const show = () => {
    shown.abort();
    if (signal.aborted || document.hidden) return;
    shown = new AbortController();
    void watch(path, tell, shown.signal);
  };
  document.addEventListener("visibilitychange", show);
  signal.addEventListener("abort", () => {
    document.removeEventListener("visibilitychange", show);
    shown.abort();
  });
  show();
}

async function watch(
  path: string,
  tell: (event: CallEvent | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await readOnce(path, tell, signal);
    } catch {
      if (signal.aborted) return;
      tell(undefined);
      await pause(signal);
    }
  }
}

async function readOnce(
  path: string,
  tell: (event: CallEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetchAsUser(new Request(`${SERVER_URL}${path}`, { signal }));
  if (!response.ok || response.body === null) {
    throw faultOf(response.status, await response.json().catch(() => undefined));
  }
  for await (const { name, data } of serverEvents(response.body)) {
    const event: unknown = { name, data: JSON.parse(data) };
    if (isCallEvent(event)) tell(event);
  }
}

/** Server and page are of one build, so a name that is known has the data that the contract gives it. */
function isCallEvent(event: unknown): event is CallEvent {
  return NAMES.has(String(Object(event).name));
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(AGAIN_AFTER_MS, resolve);
    signal.addEventListener("abort", () => {
      cancel();
      resolve();
    });
  });
}
