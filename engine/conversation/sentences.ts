/**
 * Splits the text of a reply into the sentences that TTS gets: abbreviations, boundaries, cuts of long sentences, and what
 * cannot be spoken.
 */

/**
 * Words with a full stop that does not end a sentence: English, Spanish, French, German. Lower case, without the
 * last stop.
 */

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Something always follows these: a name, an example, a comparison. */
export const ALWAYS_CONTINUED = setOf(`
  mr mrs ms mx messrs dr dra drs prof rev hon gen col capt cpt lt sgt maj cmdr gov sen rep pres supt
  e.g i.e eg ie vs cf viz approx aprox ca incl inkl excl exkl esp resp
  dña dn fray lic ing arq p.ej v.gr p.ex c.-à-d c-à-d mme mlle mgr
  z.b d.h u.u o.ä s.o s.u bzw evtl ggf zzgl vgl sog bspw hrsg frl
`);

/** Abbreviations only before a number: "no. 5", but "I said no." */
export const CONTINUED_BY_NUMBER = setOf(`
  no nos nr núm nums núms n.º num p pp pg pág págs page fig figs vol vols ch cap sec §§ art arts abs kap bd
  tel tél tlf ext apt rm ste dept jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun
`);

/** May end a sentence or not, depending on whether the next word is one that begins sentences. */
export const SOMETIMES_CONTINUED = setOf(`
  st ste mt ft sr sra sres sras srta jr snr esq etc al inc ltd co corp llc llp plc bros cía cia est
  ave av avda blvd rd ln hwy sq str pl ph.d phd m.d b.a m.a b.sc m.sc d.c s.a s.l s.r.l
  ud uds vd vds hr fr hrn env dept mio mrd usw usf u.a bd
  a.m p.m am pm a.c d.c u.s u.k u.n e.u u.s.a ee.uu rr.hh d.f
`);

/** Words that open sentences and are hardly ever part of a name. */
export const SENTENCE_OPENERS = setOf(`
  the this that these those there then thus it it's its i i'm i'll i'd i've he he's she she's we we're we'll we've you you're you'll
  they they're they'll what what's when where which who why how would could should can do does did is are was were will shall may
  have has had if in on at for from with without after before because since so but and or yet also however please thank thanks
  yes no not now next first second finally let let's here here's our my your his her their some any many most all both each every
  el la los las lo un una unos unas este esta esto estos estas ese esa eso él ella ellos ellas yo tú usted ustedes nosotros
  qué cómo cuándo dónde quién cuál por para con sin si sí pero también entonces gracias hay es son está están puede pueden podemos
  le les l'on ce cette ces c'est cela ça il elle ils elles je j'ai nous vous on que quel quelle comment quand où pourquoi
  mais donc oui non merci pour avec si est-ce
  der die das ein eine dies diese dieser dieses es er sie wir ihr ich was wie wann wo wer warum wenn aber und oder danke bitte
  ja nein dann jetzt hier dort mit ohne für auf im am können möchten haben sind ist
`);

/** German writes the day before these with a full stop: "3. Mai". */
export const GERMAN_MONTHS = setOf(`
  januar jänner februar märz april mai juni juli august september oktober november dezember
`);

/**
 * Classes of UTF-16 code units that the sentence splitter checks for every character, so they are plain
 * comparisons.
 */

/** From here on scripts have no spaces between words (and every code unit is a good part of a syllable). */
const WIDE_FROM = 0x2e80;

/** A wide character takes about as long to say as three Latin letters. */
const WIDE_WEIGHT = 3;

/** Whether String.prototype.trim removes the character. */
export function isSpace(code: number): boolean {
  if (code < 0x80) return code === 32 || (code >= 9 && code <= 13);
  return (
    code === 0xa0 ||
    code === 0x3000 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x1680 ||
    code === 0xfeff
  );
}

/** What can end a sentence: . ! ? and the new line; … ‼ ⁇ ⁈ ⁉; unambiguous terminators; the wide ones. */
export function isTerminator(code: number): boolean {
  if (code < 0x80) return code === 46 || code === 10 || code === 33 || code === 63;
  return (
    code === 0x2026 ||
    isWideTerminator(code) ||
    isPlainTerminator(code) ||
    code === 0x203c ||
    (code >= 0x2047 && code <= 0x2049)
  );
}

/**
 * Unicode terminators that often mean something else: stops in numbers and abbreviations, and the marks that are
 * handled above.
 */
const NOT_PLAIN = ".!?\u2024\ufe52\uff0e\u203c\u2047\u2048\u2049\u3002\uff01\uff1f\uff61";
const TERMINAL = /\p{Sentence_Terminal}/u;
/** The lowest code unit of a plain terminator; below it there is only ASCII punctuation. */
const PLAIN_FROM = 0x0589;
const plainTerminators = new Set<number>();
for (let code = PLAIN_FROM; code <= 0xffff; code += 1) {
  const mark = String.fromCharCode(code);
  if (TERMINAL.test(mark) && !NOT_PLAIN.includes(mark)) plainTerminators.add(code);
}

/**
 * The unambiguous sentence terminators of Arabic, Urdu, Hindi, Burmese, Khmer, Armenian, Amharic and all other
 * scripts of the basic plane, with or without a space after them.
 */
export function isPlainTerminator(code: number): boolean {
  return code >= PLAIN_FROM && plainTerminators.has(code);
}

/**
 * As `isPlainTerminator`, for the character that ends at `index`, which may be a surrogate pair: 𑁇 (Brahmi), 𑅁
 * (Chakma).
 */
export function isPlainTerminatorAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (!isLowSurrogate(code)) return isPlainTerminator(code);
  return (
    isHighSurrogate(text.charCodeAt(index - 1)) && TERMINAL.test(text.slice(index - 1, index + 1))
  );
}

/** As `isTerminator`, for the character that ends at `index`. */
export function isTerminatorAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return isLowSurrogate(code) ? isPlainTerminatorAt(text, index) : isTerminator(code);
}

/** 。 ！ ？ ｡ end a sentence without a space after them. */
export function isWideTerminator(code: number): boolean {
  return code === 0x3002 || code === 0xff01 || code === 0xff1f || code === 0xff61;
}

/** ， 、 ； ： end a clause without a space after them. */
export function isWideClauseMark(code: number): boolean {
  return code === 0xff0c || code === 0x3001 || code === 0xff1b || code === 0xff1a;
}

const CLOSERS = new Set(Array.from(`"')]}*_\`~’”»›」』）】》〉］｝`, (mark) => mark.charCodeAt(0)));

/** Quotes, brackets and emphasis marks that belong to the sentence that they close. */
export function isCloser(code: number): boolean {
  return CLOSERS.has(code);
}

const OPENERS = new Set(
  Array.from(`"'([{*_\`~‘“«‹「『（【《〈¿¡—–-`, (mark) => mark.charCodeAt(0)),
);

export function isOpener(code: number): boolean {
  return OPENERS.has(code);
}

/** ¿ ¡, wide scripts, pictographs and emoji: what may begin a sentence with no space before it. */
export function beginsUnspaced(code: number): boolean {
  return code === 0xbf || code === 0xa1 || code >= 0x2600;
}

/** Thai, Lao, Tibetan, Burmese, Khmer: words have no spaces between them, and a space is where a speaker pauses. */
export function isPausedBySpace(code: number): boolean {
  return (code >= 0x0e00 && code <= 0x109f) || (code >= 0x1780 && code <= 0x17ff);
}

/** Chinese and Japanese: words have no spaces between them, and a space is rare. Hangul is wide and has spaces. */
export function isWideLetter(code: number): boolean {
  return (code >= 0x3041 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff);
}

export function weightOf(code: number): number {
  return code < WIDE_FROM ? 1 : WIDE_WEIGHT;
}

export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

export const NOT_A_BOUNDARY = -1;
/** More text is needed to decide. */
export const UNDECIDED = -2;

/** How far past a full stop the text is read to judge it; what is undecided by then is no boundary. */
const LOOKAHEAD_MAX = 40;
/** The longest word that is looked up, in characters; longer ones are no abbreviation. */
const WORD_MAX = 16;

const NEWLINE = 10;
const FULL_STOP = 46;
const ELLIPSIS = 0x2026;

const DIGIT = /^\p{Nd}/u;
const LIST_NUMBER = /^[\s*_#>•(-]*\p{Nd}{1,3}$/u;
const SINGLE_LETTERS = /^(?:\p{L}\.)*\p{L}$/u;
const NUMBER = /^\d+$/;
const UPPER_CASE = /^\p{Lu}/u;
const LOWER_CASE = /^\p{Ll}/u;
const LETTER = /^[\p{L}'’]/u;

/**
 * Whether the terminator at `at`, in the sentence that begins at `start`, ends it: the index after its closing
 * quotes and brackets, or NOT_A_BOUNDARY, or UNDECIDED. More text never changes a result other than UNDECIDED.
 */
export function boundaryAt(text: string, start: number, at: number): number {
  const code = text.charCodeAt(at);
  if (code === NEWLINE) return at + 1;
  const end = endOfMarks(text, at);
  if (end === NOT_A_BOUNDARY || end === UNDECIDED) return end;

  const next = text.charCodeAt(end);
  if (hasMark(text, at, end, isWideTerminatorAt)) return end;
  if (hasMark(text, at, end, isPlainTerminatorAt))
    return isInNumber(text, start, at, end) ? NOT_A_BOUNDARY : end;
  if (!isSpace(next) && !beginsUnspaced(next)) return NOT_A_BOUNDARY;
  if (hasMark(text, at, end, isFinalMarkAt)) return end;
  if (isEllipsis(text, at)) return afterEllipsis(text, end);
  if (end > at + 1 && isSpace(next)) return afterClosedStop(text, end);
  return afterFullStop(text, start, at, end);
}

/** The terminators and closers from `at` on belong together: `?!`, `."`, `!**`. */
function endOfMarks(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    // Only the pair shows whether it is a mark.
    if (isHighSurrogate(code)) {
      if (end + 1 === text.length) return UNDECIDED;
      if (!isPlainTerminatorAt(text, end + 1)) return end;
      end += 2;
    } else {
      const isMark = code !== NEWLINE && (isTerminator(code) || isCloser(code));
      if (!isMark) return end;
      end += 1;
    }
    if (end - at > LOOKAHEAD_MAX) return NOT_A_BOUNDARY;
  }
  return UNDECIDED;
}

/** "۳۔۵" is a number, and "۱۔" before the first word of a line is one of a list. */
function isInNumber(text: string, start: number, at: number, end: number): boolean {
  if (!DIGIT.test(text.charAt(at - 1))) return false;
  return (
    DIGIT.test(text.charAt(end)) || LIST_NUMBER.test(text.slice(start, at).split("\n").at(-1) ?? "")
  );
}

type MarkTest = (text: string, index: number) => boolean;

function hasMark(text: string, from: number, to: number, isMarkAt: MarkTest): boolean {
  for (let index = from; index < to; index += 1) {
    if (isMarkAt(text, index)) return true;
  }
  return false;
}

const isWideTerminatorAt: MarkTest = (text, index) => isWideTerminator(text.charCodeAt(index));

const isFinalMarkAt: MarkTest = (text, index) => {
  const code = text.charCodeAt(index);
  return isTerminator(code) && code !== FULL_STOP && code !== ELLIPSIS;
};

function isEllipsis(text: string, at: number): boolean {
  const isDots = text.charCodeAt(at + 1) === FULL_STOP || text.charCodeAt(at - 1) === FULL_STOP;
  return isDots || text.charCodeAt(at) === ELLIPSIS;
}

/** "Well... I think" continues, "That was all... Goodbye" does not. */
function afterEllipsis(text: string, end: number): number {
  if (!isSpace(text.charCodeAt(end))) return NOT_A_BOUNDARY;
  const word = wordAfter(text, end);
  if (word === undefined) return UNDECIDED;
  const isPronoun = word === "I" || /^I['’]/.test(word);
  return UPPER_CASE.test(word) && !isPronoun ? end : NOT_A_BOUNDARY;
}

/** 'He left (at last.) Then', but not 'He left (at last.) and'. */
function afterClosedStop(text: string, end: number): number {
  const word = wordAfter(text, end);
  if (word === undefined) return UNDECIDED;
  return LOWER_CASE.test(word) ? NOT_A_BOUNDARY : end;
}

function afterFullStop(text: string, start: number, at: number, end: number): number {
  const word = wordBefore(text, start, at);
  if (NUMBER.test(word)) return afterNumber(text, start, at, end, word);
  if (ALWAYS_CONTINUED.has(word)) return NOT_A_BOUNDARY;
  if (CONTINUED_BY_NUMBER.has(word)) return unlessNumberFollows(text, end);
  if (SOMETIMES_CONTINUED.has(word) || SINGLE_LETTERS.test(word)) return ifOpenerFollows(text, end);
  return end;
}

/** "1. Wash it" in a list and "3. Mai" in German continue, "It costs 30." does not. */
function afterNumber(text: string, start: number, at: number, end: number, digits: string): number {
  const sentence = text.slice(start, at);
  if (LIST_NUMBER.test(sentence.slice(sentence.lastIndexOf("\n") + 1))) return NOT_A_BOUNDARY;
  if (digits.length > 2) return end;
  const word = wordAfter(text, end);
  if (word === undefined) return UNDECIDED;
  return GERMAN_MONTHS.has(word.toLowerCase()) ? NOT_A_BOUNDARY : end;
}

function unlessNumberFollows(text: string, end: number): number {
  const next = nextInk(text, end);
  if (next === UNDECIDED || next === NOT_A_BOUNDARY) return next;
  const code = text.charCodeAt(next);
  return code >= 48 && code <= 57 ? NOT_A_BOUNDARY : end;
}

function ifOpenerFollows(text: string, end: number): number {
  const word = wordAfter(text, end);
  if (word === undefined) return UNDECIDED;
  const following = text.slice(end, end + LOOKAHEAD_MAX).trimStart();
  if (beginsUnspaced(following.charCodeAt(0))) return end;
  if (!UPPER_CASE.test(word)) return NOT_A_BOUNDARY;
  return SENTENCE_OPENERS.has(word.toLowerCase().replace("’", "'")) ? end : NOT_A_BOUNDARY;
}

/** The word before the full stop, in lower case, with its inner stops; cut if longer than the longest known word. */
function wordBefore(text: string, start: number, at: number): string {
  let from = at;
  while (from > start && at - from <= WORD_MAX) {
    const code = text.charCodeAt(from - 1);
    // The hyphen is in "c.-à-d.", so it is the one opener that may be inside a word.
    if (isSpace(code) || (isOpener(code) && code !== 45)) break;
    from -= 1;
  }
  return text.slice(from, at).toLowerCase();
}

/** The whole next word without opening marks, "" when a number or mark comes first, undefined when it may continue. */
function wordAfter(text: string, end: number): string | undefined {
  const from = nextInk(text, end);
  if (from === UNDECIDED) return undefined;
  if (from === NOT_A_BOUNDARY) return "";
  let to = from;
  while (to < text.length && to - from < WORD_MAX && LETTER.test(text.charAt(to))) to += 1;
  if (to === text.length) return undefined;
  const isInitial = to - from === 1 && text.charCodeAt(to) === FULL_STOP;
  return isInitial ? "" : text.slice(from, to);
}

/** Where the next word begins, past spaces and opening marks. */
function nextInk(text: string, end: number): number {
  for (let index = end; index < end + LOOKAHEAD_MAX; index += 1) {
    if (index >= text.length) return UNDECIDED;
    const code = text.charCodeAt(index);
    if (!isSpace(code) && !isOpener(code)) return index;
  }
  return NOT_A_BOUNDARY;
}

const EM_DASH = 0x2014;
/** A clause begins after one of these and a space. A hyphen counts only between two spaces. */
const CLAUSE_MARKS = new Set(Array.from(",;:–—", (mark) => mark.charCodeAt(0)));
const HYPHEN = 45;
/** Clauses begin with these, so the cut goes before them. English, Spanish, French, German. */
const CONJUNCTIONS = [
  "and ",
  "but ",
  "or ",
  "y ",
  "pero ",
  "et ",
  "mais ",
  "und ",
  "aber ",
  "oder ",
];

/** Where no clause ends, a speaker who must pause does so before one of these. */
const JOINTS = new Set(
  `that which who because if when while so for with in at from by on
  dass weil wenn für mit in an auf bei nach parce pour avec dans chez porque para con en desde
  perché per com em omdat voor met op że bo dla`.split(/\s+/),
);

const words = new Intl.Segmenter("th", { granularity: "word" });
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * The latest place in (from, to] where one clause ends and another begins, or -1. Reads nothing after `to`, and the
 * character at `to` only to see that it is a space.
 */
export function lastClauseEnd(text: string, from: number, to: number): number {
  for (let index = to; index > from; index -= 1) {
    const before = text.charCodeAt(index - 1);
    if (isWideClauseMark(before) || (before === EM_DASH && index < to)) return index;
    if (!isSpace(text.charCodeAt(index))) continue;
    if (CLAUSE_MARKS.has(before) || isPausedBySpace(before)) return index;
    if (before === HYPHEN && isSpace(text.charCodeAt(index - 2))) return index;
    if (CONJUNCTIONS.some((word) => startsWithin(text, word, index + 1, to))) return index;
  }
  return -1;
}

/** Whether `lastClauseEnd` up to `to` may find an end that it did not find up to the character before. */
export function mayEndClause(text: string, to: number): boolean {
  const code = text.charCodeAt(to);
  if (isSpace(code) || isPausedBySpace(code)) return true;
  return isWideClauseMark(text.charCodeAt(to - 1)) || text.charCodeAt(to - 2) === EM_DASH;
}

/** The latest space in (from, to) before a word that a speaker may pause before, or -1. */
export function lastJoint(text: string, from: number, to: number): number {
  let wordEnd = to;
  for (let index = to - 1; index > from; index -= 1) {
    if (!isSpace(text.charCodeAt(index))) continue;
    if (JOINTS.has(text.slice(index + 1, wordEnd).toLowerCase())) return index;
    wordEnd = index;
  }
  return -1;
}

function startsWithin(text: string, word: string, at: number, to: number): boolean {
  return at + word.length - 1 <= to && text.startsWith(word, at);
}

/**
 * Where to cut text[start, to) when it must be cut: at the end of a clause, otherwise of a word, otherwise of a
 * whole character.
 */
export function forcedCut(text: string, start: number, to: number): number {
  const half = start + Math.floor((to - start) / 2);
  const clause = lastClauseEnd(text, half, to);
  if (clause !== -1) return clause;
  for (let index = to; index > half; index -= 1) {
    if (isSpace(text.charCodeAt(index))) return index;
  }
  const before = text.charCodeAt(to - 1);
  if (isPausedBySpace(before) || isWideLetter(before)) {
    const word = lastWordEnd(text.slice(start, to));
    if (word > 0) return start + word;
  }
  return characterBorder(text, start, to);
}

/** Where the last word that may still continue begins, in a script without spaces; 0 when it is the only one. */
function lastWordEnd(text: string): number {
  let last = 0;
  for (const { index } of words.segment(text)) last = index;
  return last;
}

/** Never inside a grapheme, unless that alone exceeds the maximum; never inside a surrogate pair. */
function characterBorder(text: string, start: number, to: number): number {
  const window = text.slice(start, to + 2);
  const grapheme = graphemes.segment(window).containing(to - start);
  if (grapheme !== undefined && grapheme.index > 0) return start + grapheme.index;
  return isHighSurrogate(text.charCodeAt(to - 1)) ? to - 1 : to;
}

// Lengths below are weights: a Latin letter counts 1, a character of a wide script 3 (it takes as long to say).

/** The maximum weight of a sentence, so that memory and the wait for its audio stay bounded. About 20 s of speech. */
const SENTENCE_WEIGHT_MAX = 300;
/** The caller waits for the first sentence in silence: past this weight it is cut at the end of a clause. */
const FIRST_SENTENCE_WEIGHT = 80;
/** A later sentence below this weight ("Yes!") is joined with the next one: alone it would sound chopped. */
export const SHORT_SENTENCE_WEIGHT = 12;
/**
 * While little has been released, the next piece must not take TTS longer than the released audio lasts: at 1.5
 * times real time, with two pieces in synthesis, this multiple of the weight of all before it.
 */
const NEXT_OF_RELEASED = 1.3;
const NEXT_WEIGHT_MIN = 30;
/**
 * However much was released, only two pieces are in synthesis, and most of the rest has been heard. About 10 s of
 * speech.
 */
const NEXT_WEIGHT_MAX = 150;
/** A clause that exceeds the maximum by this factor is cut before a conjunction, a still longer one at any word. */
const JOINT_CUT_FACTOR = 1.2;
const WORD_CUT_FACTOR = 1.3;
/** A piece that a caller waits for after a short one has at least several words. */
const WORD_CUT_WEIGHT_MIN = 75;
/** A first sentence slightly above its limit sounds better whole, and the caller hears no gap before it. */
const FIRST_JOINT_CUT_FACTOR = 1.5;
const FIRST_WORD_CUT_FACTOR = 2;
/** A single word (a link, digits) that exceeds the maximum is cut inside, but none below this weight. */
const LONG_WORD_WEIGHT = 120;
const LONG_WORD_FACTOR = 1.2;
/** Scripts without sentence marks are cut at a speaker's pause from this weight on. */
const UNMARKED_WEIGHT_MAX = 100;
/** A clause below this weight is not cut off. */
const CLAUSE_WEIGHT_MIN = 20;

/** Begin with EMPTY_SPLITTER; every state is an immutable value. */
export interface SplitterState {
  /** Text that was not released yet, without leading spaces. */
  readonly pending: string;
  /** `pending` holds no undecided boundary up to here. */
  readonly scanned: number;
  /** The weight of `pending` up to `scanned`. */
  readonly weight: number;
  /** Whether any sentence was released. */
  readonly hasStarted: boolean;
  /** The weight of the released text. */
  readonly releasedWeight: number;
  /** Pieces play while they are synthesized: only the wait for the text counts, not that for the last audio. */
  readonly isStreamed: boolean;
}

export interface SplitStep {
  readonly state: SplitterState;
  /** Trimmed; each holds at least one letter or digit; markup is still in them. */
  readonly sentences: readonly string[];
}

export const EMPTY_SPLITTER: SplitterState = {
  pending: "",
  scanned: 0,
  weight: 0,
  hasStarted: false,
  releasedWeight: 0,
  isStreamed: false,
};

export const EMPTY_STREAMED_SPLITTER: SplitterState = { ...EMPTY_SPLITTER, isStreamed: true };

const NONE: readonly string[] = [];
const SPOKEN = /[\p{L}\p{N}]/u;

/**
 * Takes the next piece of the stream. The sentences do not depend on how the stream is cut into pieces. A sentence
 * is released as soon as the characters after it prove that it has ended.
 */
export function splitToken(state: SplitterState, text: string): SplitStep {
  if (state.pending === "" || state.scanned < state.pending.length) return scan(state, text);
  let limit = Math.min(clauseLimit(state), SENTENCE_WEIGHT_MAX);
  // A space after such a script is a possible cut.
  if (isPausedBySpace(state.pending.charCodeAt(state.pending.length - 1))) {
    limit = Math.min(limit, UNMARKED_WEIGHT_MAX);
  }
  // The token may begin with the second half of a character.
  if (isTerminatorAt(state.pending.slice(-1) + text.slice(0, 1), 1)) return scan(state, text);
  let weight = state.weight;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isTerminatorAt(text, index)) return scan(state, text);
    if (isPausedBySpace(code)) limit = Math.min(limit, UNMARKED_WEIGHT_MAX);
    weight += weightOf(code);
  }
  if (weight > limit) return scan(state, text);
  const pending = state.pending + text;
  return {
    state: {
      pending,
      scanned: pending.length,
      weight,
      hasStarted: state.hasStarted,
      releasedWeight: state.releasedWeight,
      isStreamed: state.isStreamed,
    },
    sentences: NONE,
  };
}

/** The stream has ended: returns the rest, or undefined if nothing of it can be spoken. */
export function splitEnd(state: SplitterState): string | undefined {
  const rest = state.pending.trim();
  return SPOKEN.test(rest) ? rest : undefined;
}

/** Where the sentence being read begins and how far it was read; lives only inside `scan`. */
interface Reading {
  start: number;
  index: number;
  weight: number;
  hasStarted: boolean;
  releasedWeight: number;
  readonly isStreamed: boolean;
  sentences: string[];
}

function scan(state: SplitterState, token: string): SplitStep {
  const text = state.pending === "" ? token.trimStart() : state.pending + token;
  const reading: Reading = {
    start: 0,
    index: state.scanned,
    weight: state.weight,
    hasStarted: state.hasStarted,
    releasedWeight: state.releasedWeight,
    isStreamed: state.isStreamed,
    sentences: [],
  };
  while (reading.index < text.length) {
    if (!readCharacter(reading, text)) break;
  }
  const { start, index, weight, hasStarted, releasedWeight, isStreamed, sentences } = reading;
  return {
    state: {
      pending: text.slice(start),
      scanned: index - start,
      weight,
      hasStarted,
      releasedWeight,
      isStreamed,
    },
    sentences,
  };
}

/** Advances by a character, a boundary or a cut; false if the next characters must be known first. */
function readCharacter(reading: Reading, text: string): boolean {
  const { start, index } = reading;
  const code = text.charCodeAt(index);
  if (isTerminatorAt(text, index)) {
    const end = boundaryAt(text, start, index);
    if (end === UNDECIDED) return false;
    if (end !== NOT_A_BOUNDARY) {
      endSentence(reading, text, end);
      return true;
    }
  }
  const weight = reading.weight + weightOf(code);
  if (weight > SENTENCE_WEIGHT_MAX) {
    // Half a pair does not tell where its character ends.
    if (index + 1 === text.length && isHighSurrogate(code)) return false;
    cutSentence(reading, text, forcedCut(text, start, index));
    return true;
  }
  const cut = openingCut(reading, text, weight);
  if (cut !== -1) {
    cutSentence(reading, text, cut);
    return true;
  }
  reading.weight = weight;
  reading.index = index + 1;
  return true;
}

/** Where the current piece may end early, so that the caller need not wait for all of it; -1 for nowhere. */
function openingCut(reading: Reading, text: string, weight: number): number {
  const { start, index } = reading;
  const code = text.charCodeAt(index);
  const isUnmarked = isPausedBySpace(code) || isPausedBySpace(text.charCodeAt(index - 1));
  const limit = isUnmarked
    ? Math.min(clauseLimit(reading), UNMARKED_WEIGHT_MAX)
    : clauseLimit(reading);
  if (weight <= limit) return -1;
  const { joint, word } = cutWeights(reading, limit);
  const isWide = isWideLetter(code);
  // Inside a word only if it contains no space: words of a script without spaces, links, long runs of digits.
  const longWord = isWide ? word : Math.max(word * LONG_WORD_FACTOR, LONG_WORD_WEIGHT);
  if (weight > longWord && !isSpace(code) && !isHighSurrogate(code)) {
    return forcedCut(text, start, index);
  }
  // The whole piece is searched when the limit is passed, and from then on only the new text.
  if (reading.weight > limit && !mayEndClause(text, index)) return -1;
  const from = clauseMinEnd(text, start);
  const clause = lastClauseEnd(text, from, index);
  if (clause !== -1) return clause;
  if (isUnmarked && weight > limit * JOINT_CUT_FACTOR) return forcedCut(text, start, index);
  if (!isSpace(code)) return -1;
  if (weight > word) return index;
  return weight > joint ? lastJoint(text, from, index) : -1;
}

/** From these weights on a piece may end before a joint, and with any word. */
function cutWeights({ hasStarted }: Reading, limit: number): { joint: number; word: number } {
  if (!hasStarted)
    return { joint: limit * FIRST_JOINT_CUT_FACTOR, word: limit * FIRST_WORD_CUT_FACTOR };
  const word = Math.max(limit * WORD_CUT_FACTOR, WORD_CUT_WEIGHT_MIN);
  return { joint: limit * JOINT_CUT_FACTOR, word };
}

/**
 * From this weight on a piece may end with a clause; it may exceed the limit of a sentence once a streamed piece
 * has enough audio ahead.
 */
function clauseLimit({
  hasStarted,
  releasedWeight,
  isStreamed,
}: Pick<SplitterState, "hasStarted" | "releasedWeight" | "isStreamed">): number {
  if (!hasStarted || (isStreamed && releasedWeight < FIRST_SENTENCE_WEIGHT))
    return FIRST_SENTENCE_WEIGHT;
  if (isStreamed) return Number.POSITIVE_INFINITY;
  return Math.min(Math.max(NEXT_WEIGHT_MIN, releasedWeight * NEXT_OF_RELEASED), NEXT_WEIGHT_MAX);
}

function clauseMinEnd(text: string, start: number): number {
  let index = start;
  for (let weight = 0; weight < CLAUSE_WEIGHT_MIN && index < text.length; index += 1) {
    weight += weightOf(text.charCodeAt(index));
  }
  return index;
}

function endSentence(reading: Reading, text: string, end: number): void {
  let weight = reading.weight;
  for (let index = reading.index; index < end; index += 1)
    weight += weightOf(text.charCodeAt(index));
  const isShort = reading.hasStarted && weight < SHORT_SENTENCE_WEIGHT;
  if (isShort || !SPOKEN.test(text.slice(reading.start, end))) {
    reading.weight = weight;
    reading.index = end;
    return;
  }
  cutSentence(reading, text, end);
}

/** Text without a letter or a digit is dropped when it exceeds the limit: it contains nothing to say. */
function cutSentence(reading: Reading, text: string, end: number): void {
  const sentence = text.slice(reading.start, end).trim();
  if (SPOKEN.test(sentence)) {
    reading.sentences.push(sentence);
    reading.hasStarted = true;
    for (let index = 0; index < sentence.length; index += 1) {
      reading.releasedWeight += weightOf(sentence.charCodeAt(index));
    }
  }
  let start = end;
  while (start < text.length && isSpace(text.charCodeAt(start))) start += 1;
  reading.start = start;
  reading.index = start;
  reading.weight = 0;
}

/** The sentences of a complete text. */
export function sentencesOf(text: string): readonly string[] {
  const split = splitToken(EMPTY_SPLITTER, text);
  const rest = splitEnd(split.state);
  return rest === undefined ? split.sentences : [...split.sentences, rest];
}

const QUESTION_MARK = 63;
const EXCLAMATION_MARK = 33;
/** A word of letters, and marks on them, with an apostrophe at most: no number, initial, address, file or abbreviation with stops inside. */
const PLAIN_WORD = /(?:^|[\s\p{Pi}"'(¿¡*_-])((?:\p{L}\p{M}*){2,40}|(?:\p{L}\p{M}*)+['’]\p{L}+)\.$/u;
const LAST_WORD = /[^\s"'([{*_`]{1,40}$/u;
/** A number, or initials. */
const AMBIGUOUS_END = /\d$|^(?:\p{L}\.)*\p{L}$/u;
const LIST_NUMBER_AT_END = /(?:^|\n)[\s*_#>•(-]*\d{1,3}$/;

/**
 * Takes the next token of a reply as `splitToken` does, and releases the first sentence with its last token if its
 * terminator is unambiguous: the caller waits for it in silence, and the next token may take long. The token's end
 * is part of the evidence, since LLMs write ".com" and "..." in one token.
 */
export function splitReplyToken(state: SplitterState, token: string): SplitStep {
  const step = splitToken(state, token);
  const { hasStarted, pending } = step.state;
  if (hasStarted || !endsForCertain(pending)) return step;
  const { releasedWeight, weight } = step.state;
  const begunState = {
    ...step.state,
    pending: "",
    scanned: 0,
    weight: 0,
    releasedWeight: releasedWeight + weight,
  };
  return { state: { ...begunState, hasStarted: true }, sentences: [...step.sentences, pending] };
}

/** An LLM that sends no token for this long has stalled behind a sentence that is certainly complete. */
const MODEL_STALL_MS = 300;
/**
 * The same after a sentence that ends with a number or an abbreviation: "3." may continue as "3.5", "U.S." as
 * "U.S. Open".
 */
const AMBIGUOUS_END_STALL_MS = 1_000;

/** The pending sentence, if it is complete and the LLM has sent no token for `stalledMs`. */
export function splitStalled(state: SplitterState, stalledMs: number): SplitStep | undefined {
  const { pending, weight, releasedWeight } = state;
  const text = pending.trimEnd();
  const waitMs = stallBehind(text);
  if (waitMs === undefined || stalledMs < waitMs) return undefined;
  const rest = { pending: "", scanned: 0, weight: 0 };
  return {
    state: { ...state, ...rest, releasedWeight: releasedWeight + weight, hasStarted: true },
    sentences: [text],
  };
}

/**
 * How long an LLM must stall before the pending text counts as complete; undefined if it does not. Cheap if no
 * mark ends it.
 */
export function stallMsOf({ pending }: SplitterState): number | undefined {
  let end = pending.length;
  while (end > 0 && isBehindMark(pending.charCodeAt(end - 1))) end -= 1;
  if (end === 0 || !isTerminatorAt(pending, end - 1)) return undefined;
  return stallBehind(pending.trimEnd());
}

const isBehindMark = (code: number): boolean => isSpace(code) || isCloser(code);

function stallBehind(text: string): number | undefined {
  let end = text.length;
  while (end > 0 && isCloser(text.charCodeAt(end - 1))) end -= 1;
  const last = text.charCodeAt(end - 1);
  if (end === 0 || !isTerminatorAt(text, end - 1) || !SPOKEN.test(text)) return undefined;
  if (last !== FULL_STOP) return MODEL_STALL_MS;
  const before = text.slice(0, end - 1);
  const word = LAST_WORD.exec(before)?.[0].toLowerCase() ?? "";
  if (ALWAYS_CONTINUED.has(word) || LIST_NUMBER_AT_END.test(before)) return undefined;
  const isUncertain = AMBIGUOUS_END.test(word) || isAbbreviation(word);
  return isUncertain ? AMBIGUOUS_END_STALL_MS : MODEL_STALL_MS;
}

function endsForCertain(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  const isMark = last === QUESTION_MARK || last === EXCLAMATION_MARK;
  if (isMark || isWideTerminator(last) || isPlainTerminatorAt(text, text.length - 1)) {
    return SPOKEN.test(text);
  }
  // A quick check: most tokens end without one, and the pattern reads the whole text.
  if (last !== FULL_STOP) return false;
  const word = PLAIN_WORD.exec(text)?.[1]?.toLowerCase();
  return word !== undefined && !isAbbreviation(word);
}

function isAbbreviation(word: string): boolean {
  return (
    ALWAYS_CONTINUED.has(word) || CONTINUED_BY_NUMBER.has(word) || SOMETIMES_CONTINUED.has(word)
  );
}

/**
 * The speakable part of a piece of a reply: no markdown, bullets, tags or emoji, links as their text, bare
 * addresses as their host; '' if no letter or digit is left. Long texts are processed in pieces, so the time is
 * linear in the text.
 */
export function speakable(text: string): string {
  const plain = MARKUP.test(text) ? piecesOf(text).map(withoutMarkup).join(" ") : text;
  const words = plain.replace(/\s+/g, " ").trim();
  return SPOKEN.test(words) ? words : "";
}

/** A whole text as sentences for TTS; none where nothing of it can be spoken. */
export function speakableSentences(text: string): readonly string[] {
  return sentencesOf(text)
    .map(speakable)
    .filter((sentence) => sentence !== "");
}

/** A text without any of these is spoken unchanged. */
const MARKUP =
  /[\n*_#`~[\]<>|\\&•–+-]|:\/\/|www\.|\p{Extended_Pictographic}|\p{Regional_Indicator}/u;

/** A sentence with a link is shorter; the time for a piece of only marks grows with its square. */
const PIECE_CHARACTERS_MAX = 2_000;

type Rule = readonly [pattern: RegExp, replacement: string];

/** The order matters: a later rule relies on what the earlier ones have removed. */
const RULES: readonly Rule[] = [
  // Lines that are only layout: fences with their language, rules, table borders.
  [/^[ \t]*(?:```|~~~)[^\n`]{0,40}$/gm, ""],
  [/^[ \t]*(?:[-*_=][ \t]*){3,200}$/gm, ""],
  [/^[ \t|:-]*\|[ \t|:-]*$/gm, ""],
  // Marks at the start of a line: headings, quotations, bullets, check boxes.
  [/^[ \t]*(?:>[ \t]?){1,5}/gm, ""],
  [/^[ \t]*#{1,6}[ \t]+/gm, ""],
  [/^[ \t]*[-*+•–][ \t]+(?:\[[ xX]\][ \t]+)?/gm, ""],
  // Images and links, whole ones and fragments after a cut; notes; bare addresses.
  [/!?\[([^[\]\n]{0,300})\]\([^()\s]{0,1000}(?:[ \t]"[^"\n]{0,200}")?\)/g, "$1"],
  [/\]\([^()\s]{0,1000}\)?/g, ""],
  [/\[\^?\d{1,3}\]/g, ""],
  [/<(?=https?:|mailto:)([^<>\s]{1,1000})>/gi, "$1"],
  [/mailto:/gi, ""],
  [
    /\b(?:https?|ftp|wss?):\/\/(?:www\.)?([\w.-]{1,253})(?::\d{1,5})?(?:\/(?:[^\s<>]{0,1000}[\w/])?)?/gi,
    "$1",
  ],
  // Tags and entities.
  [/<\/?[a-z][^<>]{0,200}>/gi, " "],
  [/&nbsp;/gi, " "],
  [/&amp;/gi, "&"],
  [/&lt;/gi, "<"],
  [/&gt;/gi, ">"],
  [/&(?:quot|#34);/gi, '"'],
  [/&(?:apos|#39);/gi, "'"],
  // A backslash only protects the mark after it; a table's bars separate its cells.
  [/\\([\\`*_{}[\]()#+.!|>~-])/g, "$1"],
  [/[ \t]*\|[ \t]*/g, ", "],
  [/(?<=\d)[ \t]*\*[ \t]*(?=\d)/g, " × "],
  [/[*`]|~~/g, ""],
  // Underscores around words are emphasis; inside they belong to a name or an address.
  [/(?<![\p{L}\p{N}])_{1,3}(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}.,!?])_{1,3}(?![\p{L}\p{N}_])/gu, ""],
  [/(?<!\p{L})#+/gu, ""],
  [/[[\]]/g, ""],
  // Emoji with what joins and colours them.
  [
    /\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier}|\u{200D}|\u{FE0F}|\u{20E3}/gu,
    "",
  ],
  // A line without a final mark is a list item or a title: a pause belongs after it.
  [/(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[ \t]*\n\s*/gu, "，"],
  [/(?<=[\p{L}\p{N})%"'”])[ \t]*\n\s*(?=[\p{L}\p{N}])/gu, ", "],
  // What the rules above may leave: empty cells, marks with spaces before them.
  [/^[\s,]+|[\s,，]+$/g, ""],
  [/(?:,\s*){2,}/g, ", "],
];

/** Joins runs of blanks; text that is longer than any sentence is cut, at a blank if there is one. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let rest = text.replace(/[ \t]{2,}/g, " ");
  while (rest.length > PIECE_CHARACTERS_MAX) {
    const blank = rest.lastIndexOf(" ", PIECE_CHARACTERS_MAX);
    const end = blank > 0 ? blank : PIECE_CHARACTERS_MAX;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}

function withoutMarkup(text: string): string {
  let plain = text;
  for (const [pattern, replacement] of RULES) plain = plain.replace(pattern, replacement);
  return plain;
}
