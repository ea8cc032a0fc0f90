import { type RefObject, useEffect, useRef } from "react";
import type { SaidTurn } from "../../model/turns.js";
import { answersOf } from "../../words/answer-words.js";
import { momentWords } from "../../words/durations.js";
import { Empty } from "../states.js";
import { ToolsUsed } from "./tools-used.js";
import { Waterfall } from "./waterfall.js";

interface TranscriptProps {
  readonly turns: readonly SaidTurn[];
  /** The moment of the call that is shown or played. */
  readonly nowSec: number | undefined;
  readonly onMoment: (atSec: number) => void;
}

/** What was said as far as it was heard, and what the caller waited for before each reply. */
export function Transcript({ turns, nowSec, onMoment }: TranscriptProps) {
  const nowIndex =
    nowSec === undefined ? -1 : turns.findLastIndex(({ atSec }) => atSec <= nowSec + 0.05);
  const list = useFollowing(nowIndex);
  if (turns.length === 0) {
    return (
      <Empty title="Nothing was said">
        <p>Neither side had a word heard. How the call ended is told above.</p>
      </Empty>
    );
  }
  const longestMs = Math.max(...turns.map(({ wait }) => wait?.totalMs ?? 0));
  return (
    <section className="stack tight">
      <h2>What was said, and heard</h2>
      <ol className="transcript card" ref={list}>
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
                <span className="who" dir="ltr">
                  {turn.role === "user" ? "Caller" : "Agent"}
                </span>{" "}
                {turn.text}
                {turn.wasInterrupted ? <CutOff /> : null}
                <Unheard words={turn.unheard} />
              </p>
              {turn.wait === undefined ? null : (
                <Waterfall wait={turn.wait} longestMs={longestMs} />
              )}
              <ToolsUsed turn={turn} />
              <Answers turn={turn} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/**
 * Brings the turn that is heard now into sight. Who has scrolled away from what plays is left there, until a click or a link asks
 * for another moment.
 */
function useFollowing(nowIndex: number): RefObject<HTMLOListElement | null> {
  const list = useRef<HTMLOListElement>(null);
  const before = useRef(-1);
  useEffect(() => {
    const [was, rows] = [before.current, list.current?.children];
    before.current = nowIndex;
    const playsOn = nowIndex === was + 1;
    if (playsOn && isOutOfSight(rows?.[was])) return;
    rows?.[nowIndex]?.scrollIntoView({ block: "nearest" });
  }, [nowIndex]);
  return list;
}

function isOutOfSight(row: Element | undefined): boolean {
  if (row === undefined) return false;
  const { top, bottom } = row.getBoundingClientRect();
  return bottom < 0 || top > innerHeight;
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

/** What the agent had more to say, when the caller interrupted or hung up. */
function Unheard({ words }: { words: string }) {
  return words === "" ? null : (
    <>
      {" "}
      <s title="The caller never heard this">{words}</s>
    </>
  );
}

function CutOff() {
  return (
    <span
      className="soft"
      dir="ltr"
      title="The agent had more to say, which the caller never heard."
    >
      {" "}
      – cut off here by the caller
    </span>
  );
}
