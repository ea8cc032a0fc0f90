import type { SaidTurn } from "../model/turns.js";
import { answersOf } from "../words/answer-words.js";
import { momentWords } from "../words/durations.js";
import { Empty } from "./states.js";
import { Waterfall } from "./waterfall.js";

interface TranscriptProps {
  readonly turns: readonly SaidTurn[];
  /** The moment of the call that is shown or played. */
  readonly nowSec: number | undefined;
  readonly onMoment: (atSec: number) => void;
}

/** What was said as far as it was heard, and what the caller waited for before each reply. */
export function Transcript({ turns, nowSec, onMoment }: TranscriptProps) {
  if (turns.length === 0) {
    return (
      <Empty title="Nothing was said">
        <p>Neither side had a word heard. How the call ended is told above.</p>
      </Empty>
    );
  }
  const longestMs = Math.max(...turns.map(({ wait }) => wait?.totalMs ?? 0));
  const nowIndex =
    nowSec === undefined ? -1 : turns.findLastIndex(({ atSec }) => atSec <= nowSec + 0.05);
  return (
    <section className="stack tight">
      <h2>What was said, and heard</h2>
      <ol className="transcript card">
        {turns.map((turn, index) => (
          <li
            key={`${turn.timestamp} ${turn.role}`}
            className={`turn ${turn.role}${index === nowIndex ? " now" : ""}`}
            aria-current={index === nowIndex ? "true" : undefined}
          >
            <button
              type="button"
              className="at"
              data-row
              aria-label={`Go to ${momentWords(turn.atSec)}`}
              onClick={() => onMoment(turn.atSec)}
            >
              {momentWords(turn.atSec)}
            </button>
            <div className="stack tight">
              <p dir="auto">
                <span className="who">{turn.role === "user" ? "Caller" : "Agent"}</span> {turn.text}
                {turn.wasInterrupted ? <CutOff /> : null}
              </p>
              {turn.wait === undefined ? null : (
                <Waterfall wait={turn.wait} longestMs={longestMs} />
              )}
              <Answers turn={turn} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Vendors that answered, and those that failed before. */
function Answers({ turn }: { turn: SaidTurn }) {
  const answers = answersOf(turn.record);
  if (answers.length === 0) return null;
  return (
    <p className="answers">
      {answers.map(({ text, isStandIn }) => (
        <span key={text} className={isStandIn ? "state warn" : "soft"}>
          {text}
        </span>
      ))}
    </p>
  );
}

function CutOff() {
  return (
    <span className="soft" title="The agent had more to say, which the caller never heard.">
      {" "}
      – cut off here by the caller
    </span>
  );
}
