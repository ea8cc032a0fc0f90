import type { CallEnd } from "../../../storage/call-store.js";
import type { TurnSave } from "../../session/effects.js";

/** What cannot be kept for ever: the words. */
export function charsOf({ messages, added }: TurnSave): number {
  const said = messages.reduce((sum, { text }) => sum + text.length, 0);
  return added.reduce((sum, { content }) => sum + content.length, said);
}

/** The facts of an end are stored even where its words had to be given up; the record says what it lacks. */
export function afterLosses(callEnd: CallEnd, lostTurns: number, withWords: boolean): CallEnd {
  const { messages, ...facts } = callEnd;
  const lost = lostTurns + (withWords || messages.length === 0 ? 0 : 1);
  const metadata = lost === 0 ? facts.metadata : { ...facts.metadata, lostTurns: lost };
  return { ...facts, messages: withWords ? messages : [], metadata };
}
