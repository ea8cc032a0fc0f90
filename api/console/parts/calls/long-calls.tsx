import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { agentNameOf, CallHead, CallRow, type ListedAgent, type ListedCall } from "./call-rows.js";

const ROW_PX = 44;
const ROW_OF_PHONE_PX = 68;
const OVERSCAN_ROWS = 12;
/** More are loaded when so few that are loaded are left below. */
const AHEAD_ROWS = 60;
const PHONE = matchMedia("(max-width: 760px)");

export interface LongCallsProps {
  readonly calls: readonly ListedCall[];
  /** Undefined where they are not known, or not yet. */
  readonly agents: readonly ListedAgent[] | undefined;
  /** How many there are at the server. */
  readonly total: number;
  readonly more: () => void;
}

/** However many calls there are, only those in sight are in the page. */
export function LongCalls({ calls, agents, total, more }: LongCallsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = useSyncExternalStore(onPhone, () => PHONE.matches);
  const rowPx = isPhone ? ROW_OF_PHONE_PX : ROW_PX;
  const rows = useVirtualizer({
    count: calls.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
  });
  useEffect(() => rows.measure(), [rows, rowPx]);
  const shown = rows.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (calls.length < total && lastShown >= calls.length - AHEAD_ROWS) more();
  }, [calls.length, total, lastShown, more]);
  return (
    <div className="calls">
      <CallHead />
      <section className="scroller" ref={scroller} aria-label="Calls" tabIndex={-1}>
        <div className="long" style={{ height: rows.getTotalSize() }}>
          {shown.map(({ index, start }) => {
            const call = calls[index];
            return call === undefined ? null : (
              <CallRow
                key={call._id}
                call={call}
                offsetPx={start}
                agentName={agentNameOf(call.agentId, agents)}
              />
            );
          })}
        </div>
      </section>
    </div>
  );
}

function onPhone(tell: () => void): () => void {
  PHONE.addEventListener("change", tell);
  return () => PHONE.removeEventListener("change", tell);
}
