import { useSyncExternalStore } from "react";
import { after, nowMs } from "../model/browser-clock.js";
import { exactWords, whenWords } from "../words/durations.js";

const EVERY_MS = 10_000;
let shownMs = nowMs();

/** When something was, kept true while it is looked at; the exact moment is told to who points at it. */
export function Moment({ at }: { at: string }) {
  const now = useSyncExternalStore(subscribe, () => shownMs);
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={exactWords(atMs)}>
      {whenWords(atMs, Math.max(now, atMs))}
    </time>
  );
}

function subscribe(tell: () => void): () => void {
  let cancel = after(EVERY_MS, tick);
  function tick(): void {
    shownMs = nowMs();
    tell();
    cancel = after(EVERY_MS, tick);
  }
  return () => cancel();
}
