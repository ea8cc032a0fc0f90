/** The language of a call: the caller's finished turns decide it, and the agent follows. */

import type { ConversationEffect } from "./effects.js";
import { preparedPhrases } from "./filler.js";
import { dropPreemptiveReply } from "./preemptive-generation.js";
import type { EndOfTurn } from "./reasons.js";
import { type ConversationState, VOICE_MS_PER_CHAR } from "./state.js";
import { wordCount } from "./transcript-buffer.js";

/** A single word ("OK", a name) belongs to many languages, and short audio is recognized worst. */
const TURN_WORDS_MIN = 2;
/** Words in another language, in consecutive turns, that change the call's language: more than a full name has. */
const SWITCH_WORDS_MIN = 3;

/**
 * The language of the caller's turn as its record keeps it. `code` is the first part of a tag, as STT has told it.
 * Empty for an agent with one language.
 */
export function spokenIn(
  { settings: { languages } }: Pick<ConversationState, "settings">,
  code: string | undefined,
): Pick<EndOfTurn, "language"> {
  if (code === undefined || languages.length === 0) return {};
  const known = languages.find(({ language }) => language === code);
  return { language: known?.languageTag ?? code };
}

/**
 * A turn that needs an answer changes the call's language if the caller has said enough in another of the agent's
 * languages.
 */
export function followLanguage(
  state: ConversationState,
  end: EndOfTurn,
  text: string,
  out: ConversationEffect[],
): void {
  const { languages, languageTag } = state.settings;
  const spoken = languages.find((each) => each.languageTag === end.language);
  const words = wordCount(text);
  if (spoken === undefined || words < TURN_WORDS_MIN) return;
  const { otherLanguage } = state.user;
  state.user.otherLanguage = undefined;
  if (spoken.languageTag === languageTag) return;
  const isSame = otherLanguage?.languageTag === spoken.languageTag;
  const saidWords = words + (isSame ? otherLanguage.words : 0);
  if (saidWords < SWITCH_WORDS_MIN) {
    state.user.otherLanguage = { languageTag: spoken.languageTag, words: saidWords };
    return;
  }
  // A reply that was requested before is in the language of before.
  dropPreemptiveReply(state, out);
  state.settings = { ...state.settings, ...spoken };
  state.hasSwitchedLanguage = true;
  state.user.switchedFrom ??= languageTag;
  // The voice is another one.
  state.readyPhrases = [];
  // Their sentences are in the language of before.
  state.toolDelays = [];
  state.voiceMsPerChar = VOICE_MS_PER_CHAR;
  out.push({ type: "switchLanguage", language: spoken.languageTag });
  const texts = preparedPhrases(state);
  if (texts.length > 0) out.push({ type: "preparePhrases", texts });
}

/** The end of the caller's turn as it is reported, with the change of language since the last one that was. */
export function takeEndOfTurn({ user, settings }: ConversationState): EndOfTurn | undefined {
  const { endOfTurn, switchedFrom } = user;
  if (endOfTurn === undefined) return undefined;
  user.switchedFrom = undefined;
  const hasSwitched = switchedFrom !== undefined && switchedFrom !== settings.languageTag;
  return hasSwitched ? { ...endOfTurn, switchedFrom } : endOfTurn;
}
