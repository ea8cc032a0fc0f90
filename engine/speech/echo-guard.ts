/** One word alone is never taken for an echo: "yes" and "stop" stand in many answers. */
const ECHO_WORDS_MIN = 2;
/** This share of an echo's words must be the agent's, in their order; recognizers mishear some. */
const OWN_SHARE_MIN = 0.8;
/** The agent's words that are passed over between two that came back, at most. */
const GAP_WORDS_MAX = 2;
/** Only so many words are compared: the newest of the caller's, and of what is being spoken. */
const CALLER_WORDS_MAX = 40;
const SPEAKING_WORDS_MAX = 120;

/** People interrupt with these; words that are only these are the caller's, whatever the agent is saying. */
const INTERRUPTIONS = new Set(
  `stop no nope wait hold on hang up pause quiet enough excuse me sorry hey hello yes yeah okay ok please one moment a minute second
  para pare alto espera espere momento un basta perdón perdone disculpe oiga sí vale
  arrêtez arrête attendez attends stopp halt warte warten sie moment bitte nein ja non oui`.split(
    /\s+/,
  ),
);

/**
 * Whether the caller's words are the agent's own, come back through loudspeaker and microphone. Nearly all of them then
 * stand in `speakingText` (what is being played), in order and close together.
 */
export function isEcho(callerText: string, speakingText: string): boolean {
  const heard = wordsOf(callerText).slice(-CALLER_WORDS_MAX);
  if (heard.length < ECHO_WORDS_MIN || heard.every((word) => INTERRUPTIONS.has(word))) return false;
  const spoken = wordsOf(speakingText).slice(-SPEAKING_WORDS_MAX);
  const neededCount = Math.ceil(heard.length * OWN_SHARE_MIN);
  return spoken.some((_word, from) => matchedFrom(heard, spoken, from) >= neededCount);
}

/** As `isEcho`, for words that are still coming: one of the agent's own words is not yet told from an echo. */
export function mayBeEcho(callerText: string, speakingText: string): boolean {
  const heard = wordsOf(callerText);
  const only = heard.length === 1 ? heard[0] : undefined;
  if (only === undefined) return isEcho(callerText, speakingText);
  return !INTERRUPTIONS.has(only) && wordsOf(speakingText).includes(only);
}

/** How many of the heard words are found one after the other from there on, with small gaps. */
function matchedFrom(heard: readonly string[], spoken: readonly string[], from: number): number {
  let count = 0;
  let at = from;
  for (const word of heard) {
    const found = spoken.indexOf(word, at);
    if (found < 0 || found - at > GAP_WORDS_MAX) continue;
    count += 1;
    at = found + 1;
  }
  return count;
}

const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+/gu;

/** Lower case, without marks and apostrophes; in Chinese and Japanese every character for itself. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().replace(/['’]/g, "").match(WORD) ?? [];
}
