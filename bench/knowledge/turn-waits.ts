import { CallKnowledge } from "../../engine/knowledge/call-knowledge.js";
import type { VectorSearch } from "../../engine/knowledge/vector-search.js";
import { SystemClock } from "../../engine/time/clock.js";
import type { Database } from "../../storage/database.js";
import { LANGUAGES, type TrialDocument } from "./recall-trial.js";

/** A caller says some 170 words a minute. */
const WORD_MS = 350;
/** From the last word to the end of the turn. */
const ENDPOINTING_MS = 300;

export interface SpokenTurn {
  readonly waitMs: number;
  /** Whether the passage that answers was among those of the turn. */
  readonly isFound: boolean;
}

/** Says all questions word by word, in `callsAtOnce` calls at the same time, and takes what each turn was given. */
export async function spokenTurns(
  database: Database,
  orgId: string,
  ids: ReadonlyMap<TrialDocument, string>,
  vectors: VectorSearch | undefined,
  callsAtOnce: number,
): Promise<readonly SpokenTurn[]> {
  const clock = new SystemClock();
  const questions = Object.values(LANGUAGES)
    .flat()
    .flatMap((document) =>
      document.questions.map(([question, answer]) => ({ id: ids.get(document), question, answer })),
    );
  const turns: SpokenTurn[] = [];
  const pause = (durationMs: number) =>
    new Promise<void>((resolve) => void clock.after(durationMs, resolve));
  const call = async () => {
    for (let next = questions.shift(); next !== undefined; next = questions.shift()) {
      const { id, question, answer } = next;
      const knowledge = await CallKnowledge.open(orgId, [...ids.values()], {
        store: database.knowledge,
        vectors,
        clock,
        onError: (error) => {
          throw error;
        },
      });
      if (knowledge === undefined) throw new Error("there are no documents");
      const words = question.split(" ");
      for (const count of words.keys()) {
        await pause(WORD_MS);
        knowledge.hear(words.slice(0, count + 1).join(" "));
      }
      await pause(ENDPOINTING_MS);
      await knowledge.noteFor(1, question);
      const { passages = [], searchWaitMs = 0 } = knowledge.take(1);
      const isFound = passages.some(
        ({ documentId, text }) => documentId === id && text.includes(answer),
      );
      turns.push({ waitMs: searchWaitMs, isFound });
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, call));
  return turns;
}
