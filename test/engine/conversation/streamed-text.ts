import { EMPTY_SPLITTER, splitEnd, splitToken } from "../../../engine/conversation/sentences.js";

/** Feeds the pieces one by one and ends the stream. */
export function split(pieces: readonly string[], begin = EMPTY_SPLITTER): string[] {
  const sentences: string[] = [];
  let state = begin;
  for (const piece of pieces) {
    const step = splitToken(state, piece);
    sentences.push(...step.sentences);
    state = step.state;
  }
  const rest = splitEnd(state);
  return rest === undefined ? sentences : [...sentences, rest];
}

/** Cuts a text as a stream might come; sizes are in UTF-16 units. */
export function pieces(text: string, size: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
  return parts;
}
