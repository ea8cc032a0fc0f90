import { useSyncExternalStore } from "react";
import type { TalkSession } from "../../model/talk-session.js";

/** How loud both are, as two calm bars; it says that the microphone works. */
export function TalkMeters({ session }: { session: TalkSession }) {
  const levels = useSyncExternalStore(session.onLevels, session.levels);
  return (
    <div className="grid2" aria-hidden>
      <Meter label="You" level={levels.caller} />
      <Meter label="Agent" level={levels.agent} />
    </div>
  );
}

function Meter({ label, level }: { label: string; level: number }) {
  return (
    <div className="stack tight">
      <span className="soft">{label}</span>
      <div className="meter">
        <span style={{ transform: `scaleX(${Math.min(1, level).toFixed(3)})` }} />
      </div>
    </div>
  );
}
