/** Only the end of what was said tells whether more is to come. */
const TAIL_CHARACTERS = 200;
/** So many dictated pieces in a row are a dictation, whatever was asked. */
const PIECES_UNASKED = 4;

const NUMBER_WORDS = `zero oh one two three four five six seven eight nine ten double triple hundred
  cero uno dos tres cuatro cinco seis siete ocho nueve diez doble
  zéro un deux trois quatre cinq sept huit neuf dix
  null eins zwei zwo drei vier fünf sechs sieben acht neun zehn`;
const JOINING_WORDS = `at dot point dash hyphen underscore slash plus hash star arroba punto guion guión barra más
  arobase tiret slash bindestrich minus unterstrich punkt klammeraffe`;
const SPELT = new Set(`${NUMBER_WORDS} ${JOINING_WORDS}`.split(/\s+/));
/** Ends on these cannot be the end of an address or a number. */
const JOINING = new Set(JOINING_WORDS.split(/\s+/));

/** Digits in any grouping, single letters, a half address. */
const SPELT_PIECE = /^(?:[+(]?\d[\d().:/-]*|\p{L}|\p{Lu}(?:-\p{Lu})+|\S*@\S*|[@._-])$/u;
const WHOLE_EMAIL =
  /(?:@|\b(?:at|arroba|arobase)\s)\s*\S.*?(?:\.|\b(?:dot|punto|point|punkt)\s)\s*(?:com|net|org|edu|gov|info|io|co|uk|es|mx|ar|fr|de|eu)[.!]?$/iu;

/** The agent's last question asked for something that people dictate in pieces. */
const ASKED_FOR =
  /\b(?:phone|telephone|mobile|cell|number|numbers|digits?|e-?mails?|address|spell|spelled|zip|post ?code|code|pin|card|account|date of birth|reference|serial|tel[eé]fono|n[uú]mero|correo|direcci[oó]n|deletre\w*|c[oó]digo|tarjeta|cuenta|fecha de nacimiento|t[eé]l[eé]phone|portable|num[eé]ro|courriel|adresse|[eé]pel\w*|carte|compte|date de naissance|telefonnummer|handynummer|rufnummer|nummer|buchstabier\w*|postleitzahl|konto\w*|geburtsdatum)(?![\p{L}\p{N}])/iu;

/**
 * Whether the caller seems to be in the middle of dictating a number, an e-mail address or a spelling, where a pause is
 * not the end of the turn. `lastAssistantText` is what the agent said before, '' when nothing.
 */
export function isDictating(text: string, lastAssistantText: string): boolean {
  const tail = text.trim().slice(-TAIL_CHARACTERS);
  // A question is over when it is asked, whatever numbers are in it.
  if (tail === "" || /[?？]$/.test(tail) || WHOLE_EMAIL.test(tail)) return false;
  const pieces = spokenPieces(tail);
  const last = pieces.at(-1) ?? "";
  if (!isSpelt(last)) return false;
  const run = pieces.length - 1 - pieces.findLastIndex((piece) => !isSpelt(piece));
  const digits = digitCount(pieces.slice(-run));
  if (run >= PIECES_UNASKED || digits >= PIECES_UNASKED) return true;
  if (run > 1 && JOINING.has(last.toLowerCase())) return true;
  // "I do not have one" ends with a word of numbers too.
  const hasBegun = run > 1 || digits > 0 || run === pieces.length;
  return hasBegun && asksForDictation(lastAssistantText);
}

function spokenPieces(text: string): string[] {
  return text
    .split(/[\s,;]+/)
    .map((piece) => piece.replace(/[.!?]+$/, ""))
    .filter((piece) => piece !== "");
}

const isSpelt = (piece: string): boolean =>
  SPELT_PIECE.test(piece) || SPELT.has(piece.toLowerCase());

function digitCount(pieces: readonly string[]): number {
  return pieces.join("").replace(/\D/g, "").length;
}

function asksForDictation(assistantText: string): boolean {
  return ASKED_FOR.test(assistantText.slice(-TAIL_CHARACTERS));
}
