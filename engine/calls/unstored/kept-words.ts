import type { CallEnd } from "../../../storage/calls/call-store.js";
import type { TurnSave } from "../../conversation/effects.js";
import type { TurnTools } from "../../tools/tool-log.js";

/** What cannot be kept for ever: the words. */
export function charsOf({ messages, added, report }: TurnSave): number {
  const unheard = report?.unheard?.length ?? 0;
  const said = messages.reduce((sum, { text }) => sum + text.length, unheard);
  return added.reduce((sum, { content }) => sum + content.length, said);
}

/** As `charsOf`: what tools were given, and what they answered. */
export function charsOfTools({ tools = [] }: TurnTools): number {
  return tools.reduce((sum, { input, output = "" }) => sum + input.length + output.length, 0);
}

/** The facts of an end are stored even where its words had to be given up; the record says what it lacks. */
export function afterLosses(callEnd: CallEnd, lostTurns: number, withWords: boolean): CallEnd {
  const { messages, ...facts } = callEnd;
  const lost = lostTurns + (withWords || messages.length === 0 ? 0 : 1);
  const metadata = lost === 0 ? facts.metadata : { ...facts.metadata, lostTurns: lost };
  return { ...facts, messages: withWords ? messages : [], metadata };
}
