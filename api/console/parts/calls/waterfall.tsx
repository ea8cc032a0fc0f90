import type { Wait } from "../../model/turns.js";
import { waitWords } from "../../words/durations.js";

/** What the caller waited for, in the order of time; the parts sum to the whole. */
export function Waterfall({ wait, longestMs }: { wait: Wait; longestMs?: number }) {
  const scale = longestMs === undefined || longestMs === 0 ? 1 : wait.totalMs / longestMs;
  return (
    <div className="waterfall">
      <div className="bar" style={{ width: `${Math.max(4, scale * 100)}%` }} aria-hidden>
        {wait.parts.map(({ key, share }) => (
          <span key={key} className={key} style={{ flexGrow: share, flexBasis: 0 }} />
        ))}
      </div>
      <dl>
        <div className="total">
          <dt>waited</dt>
          <dd>{waitWords(wait.totalMs)}</dd>
        </div>
        {wait.parts.map(({ key, label, durationMs, isLargest }) => (
          <div key={key} className={isLargest ? `${key} largest` : key}>
            <dt>{label}</dt>
            <dd>{waitWords(durationMs)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
