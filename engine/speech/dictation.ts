import {
  COMPOSED_NUMBER,
  DATE_JOINTS,
  DAYS,
  DOUBLERS,
  GERMAN_DAY,
  JOINING_WORDS,
  LEAD_INS,
  LIST_JOINTS,
  MAGNITUDES,
  MONTHS,
  NUMBER_JOINTS,
  REFUSALS,
  SPELLING_NAMES,
  SPELT_WORDS,
} from "./dictated-words.js";
import { numberSaidBy } from "./number-words.js";

/** Only the end of what was said tells whether more is to come. */
const TAIL_CHARACTERS = 200;
/** So many dictated pieces in a row are a dictation, whatever was asked. */
const PIECES_UNASKED = 4;
/** So many numbers one after the other are a run that may go on. */
const RUN_NUMBERS_MIN = 2;
/** "Seven thirty": an hour, and minutes that are said as one number. */
const HOUR_MAX = 24;
const MINUTES_MIN = 10;
const TEEN_MAX = 19;
/** Where the last of a text's commas stands. */
const LAST_COMMA = /[,;、，](?=[^,;、，]*$)/u;
/** A noun with its article is not longer. */
const NOUN_PIECES_MAX = 5;
/** How such a noun begins, where the words are no whole sentence. */
const NOUN_FIRST =
  /^(?:(?:and|so|und|also|et|alors|y|en|dus)\s)?(?:my|the|our|meine?|unsere?|mon|ma|notre|mi|nuestr[oa]|mijn|onze?)\s/iu;
/** The part of an e-mail address before its sign is hardly longer, with what people say before it. */
const MAIL_PIECES_MAX = 4;

/** Digits in any grouping, letters, a half address, what mixes letters and digits as an IBAN does. */
const SPELT_PIECE =
  /^(?:[+(]?\d[\d().:/-]*|\p{L}|\p{Lu}(?:-\p{Lu})+|\S*@\S*|[@._-]|\p{L}{1,3}\d[\p{L}\d-]*|\d+\p{Lu}{1,2}|\S*(?:[〇零一二三四五六七八九十百幺两]|ゼロ|キュー){2,}|\S*[\p{Script=Hiragana}\p{Script=Han}]\d{2,}|[〇零一二三四五六七八九]+)$/u;
const LETTER = /^\p{L}$/u;
/** A group of an IBAN: "NWBK". */
const CODE = /^(?!OK$)\p{Lu}{2,6}$/u;
/** "S as in Sam" is one letter. */
const LETTER_WITH_NAME =
  /(?<![\p{L}\p{N}])(\p{L})[ ,]+(?:as in|for|like|wie|comme|como|de|come|jak|als in)\s+\p{L}+/giu;

/** "On iki" is twelve, and "on" a word of other languages. */
const TURKISH_TEEN = /(?<!\p{L})on (bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz)(?!\p{L})/giu;

const SIGN = String.raw`(?:@|\s(?:at|arroba|arobase|chiocciola|małpa|klammeraffe|apenstaartje)\s)\s*`;
const STOP = String.raw`(?:\.|\b(?:dot|punto|point|punkt|ponto|kropka|nokta|punt)\s)\s*`;
const WHOLE_EMAIL = new RegExp(
  String.raw`${SIGN}\S.*?${STOP}(?:com|net|org|edu|gov|info|io|co|ai|app|dev|uk|us|ca|au|in|jp|cn|es|mx|ar|br|pt|fr|de|at|ch|it|nl|be|pl|tr|eu)[.!]?$`,
  "iu",
);
const HALF_EMAIL = new RegExp(String.raw`${SIGN}[\p{L}\p{N}-]+$`, "iu");
const SIGNED = new RegExp(SIGN, "iu");
/** "jane.doe", as a recognizer may write it. */
const STOP_INSIDE = /^[\p{L}\p{N}]+(?:[._][\p{L}\p{N}]+)+$/u;
const MAIL = /e-?mail|\bmail\b|courriel|correo|e-?posta|メール|邮箱|邮件|ईमेल/iu;
const POSTAL =
  /(?<![\p{L}\p{N}])(?:address|street|\p{L}+(?:adresse|anschrift|adres|adress)|adresse|anschrift|straße|direcci[oó]n|indirizzo|endereço|morada|adres|adresi|where do you live|where (?:should|shall|can|do) (?:we|i) (?:deliver|send|ship|bring)|wo wohnen sie|wohin (?:sollen|soll)|dónde vive|dove abita|onde mora|waar woont u)(?![\p{L}\p{N}])|où habitez|住所|地址|पता/iu;
const BIRTH =
  /date of birth|birth ?da(?:te|y)|\bborn\b|geburts(?:datum|tag)|geboren|date de naissance|fecha de nacimiento|data di nascita|data de nascimento|geboortedatum|data urodzenia|doğum|生年月日|出生日期|जन्म/iu;
/** The agent asks for a day. */
const DAY_ASKED =
  /(?<!\p{L})(?:dates?|what day|which day|when|datum|welche[nmr]? tag|wann|quel jour|quand|fecha|qué día|cuándo|che giorno|data|dia|quando|welke dag|wanneer|dzień|kiedy|tarih|hangi gün|ne zaman)(?!\p{L})|日付|何日|いつ|日期|哪天|什么时候|तारीख|कब/iu;
/** With the year a date is whole. */
const YEAR =
  /(?:^|[^\d])(?:19|20)\d\d[.!]?$|\b(?:nineteen|twenty)[ -](?:oh |hundred |zero )?[\p{L}-]+$|\btwo thousand(?: (?:and )?[\p{L}-]+)?$|(?:neunzehnhundert|zweitausend)\p{L}*$|\b(?:mil novecientos|dos mil|mille neuf cent|deux mille)(?: [\p{L}-]+)*$/iu;

/** The agent's last question asked for something that people dictate in pieces, or the caller announces it. */
const ASKED_FOR =
  /(?<![\p{L}\p{N}])(?:phone|telephone|mobile|cell|number|numbers|digits?|e-?mails?|address|spell|spelled|spelling|zip|post ?code|code|pin|card|iban|account|date of birth|reference|serial|id|plate|tracking|booking|policy|passport|cvv|cvc|vin|expiry|expiration|tel[eé]fono|n[uú]mero|correo|direcci[oó]n|deletre\w*|c[oó]digo|tarjeta|cuenta|fecha de nacimiento|t[eé]l[eé]phone|portable|num[eé]ro|courriel|adresse|[eé]pel\w*|carte|compte|date de naissance|telefonnummer|handynummer|rufnummer|kartennummer|nummer|buchstabier\w*|postleitzahl|konto\w*|geburtsdatum|telefono|carta|codice|conto|indirizzo|telefone|cart[aã]o|conta|endere[cç]o|telefoonnummer|kaart|rekening|spel|adres|numer|telefonu|karty|konta|numara\w*|telefon|kart|hesap)(?![\p{L}\p{N}])|番号|電話|号码|电话|नंबर|फ़ोन/iu;

/** The last part of compounds ("Kundennummer", "klantnummer", "asiakasnumero"), which says what the whole is. */
const COMPOUND_ASKED_FOR =
  /\p{L}(?:nummern?|nummers?|nummeret|numret|numero\p{L}{0,3}|numru|number|code|codes|kode|kod|koodi|zahl|ziffern?|cijfers?|siffror|kennung|zeichen|zeichens|kennwort|passwort|wachtwoord|adresse|adressen|adres|adress|konto|tunnus|karte|kaart|kort|kortet|szám\p{L}{0,3}|номер\p{L}{0,2}|код\p{L}{0,2})(?![\p{L}\p{N}])/iu;
const asksForPieces = (text: string): boolean =>
  ASKED_FOR.test(text) || COMPOUND_ASKED_FOR.test(text);

/**
 * Whether the caller seems to be in the middle of dictating a number, an e-mail or postal address, a date of birth or a
 * spelling, where a pause is not the end of the turn. `lastAssistantText` is what the agent said before, '' when nothing.
 */
export function isDictating(text: string, lastAssistantText: string): boolean {
  const said = text.trim().slice(-TAIL_CHARACTERS);
  const tail = said.replace(LETTER_WITH_NAME, "$1").replace(TURKISH_TEEN, "$1");
  // A question is over when it is asked, whatever numbers are in it.
  if (tail === "" || /[?？]$/.test(tail) || WHOLE_EMAIL.test(tail)) return false;
  const question = lastAssistantText.slice(-TAIL_CHARACTERS);
  const pieces = spokenPieces(tail);
  const asksMail = MAIL.test(question);
  if ((asksMail || MAIL.test(tail)) && isHalfMail(tail, pieces)) return true;
  const isAnswer = !pieces.some((piece) => REFUSALS.has(piece.toLowerCase()));
  if (isAnswer && asksMail && pieces.length <= MAIL_PIECES_MAX) return true;
  if (BIRTH.test(question)) return isHalfDate(tail, pieces);
  // Told unasked, it is over with its year, and something else may follow it.
  if (BIRTH.test(tail) && YEAR.test(tail)) return false;
  if (BIRTH.test(tail) && isHalfDate(tail, pieces)) return true;
  if (DAY_ASKED.test(question) && isHalfDay(pieces)) return true;
  if (isAnswer && !asksMail && POSTAL.test(question)) return true;
  if (isRow(pieces) || isNumberRun(pieces, tail)) return true;
  // Letters that are told apart by names are a spelling, which ends with none of them.
  if (said.search(LETTER_WITH_NAME) >= 0 && LETTER.test(lastOf(pieces))) return true;
  return isAnnounced(tail, pieces) || isGivenInPieces(pieces, tail, question);
}

/** "My membership number" and nothing else, or "my policy number starts with nine": the rest is still to come. */
function isAnnounced(tail: string, pieces: readonly string[]): boolean {
  if (!asksForPieces(tail)) return false;
  const isNoun = pieces.length <= NOUN_PIECES_MAX && NOUN_FIRST.test(tail);
  if (isNoun) return asksForPieces(lastOf(pieces));
  // "I do not have one" ends with a number too.
  return (numberSaidBy(lastOf(pieces)) ?? 0) > 1;
}

/** Whether the text ends in several numbers one after the other, in words or digits, whatever was asked; a time of day is none. */
function isNumberRun(pieces: readonly string[], tail: string): boolean {
  const numbers: number[] = [];
  const words = pieces.map((piece) => piece.toLowerCase());
  const first = words.findLastIndex((word) => !isOfRun(word)) + 1;
  let isBehindTens = false;
  let isJoined = false;
  let isDoubled = false;
  for (const word of words.slice(first)) {
    const value = numberSaidBy(word);
    if (value === undefined) {
      isBehindTens &&= NUMBER_JOINTS.has(word);
      isDoubled ||= DOUBLERS.has(word);
      isJoined ||= numbers.length > 0;
      continue;
    }
    const isRest = isBehindTens && value > 0 && value <= TEEN_MAX;
    if (!isRest) numbers.push(value, ...(isDoubled ? [value] : []));
    isDoubled = false;
    isBehindTens =
      !isRest && value > TEEN_MAX && value < 100 && value % 10 === 0 && !/\d/.test(word);
  }
  const isEnded = numberSaidBy(words.at(-1) ?? "") !== undefined || isDoubled;
  const count = numbers.length + (isDoubled ? 1 : 0);
  const [hour = 0, minutes = 0] = numbers;
  const isTime = !isJoined && count === 2 && hour <= HOUR_MAX && minutes >= MINUTES_MIN;
  const behindComma = spokenPieces(tail.slice(tail.search(LAST_COMMA) + 1)).length;
  const hasComma = LAST_COMMA.test(tail) && behindComma < words.length - first;
  // "Six hundred, then": the next number is announced.
  if (hasComma && behindComma === 1 && !isEnded && LIST_JOINTS.has(words.at(-1) ?? "")) {
    return count > 0;
  }
  return isEnded && count >= RUN_NUMBERS_MIN && (!isTime || hasComma);
}

const isOfRun = (word: string): boolean =>
  numberSaidBy(word) !== undefined ||
  LIST_JOINTS.has(word) ||
  NUMBER_JOINTS.has(word) ||
  MAGNITUDES.has(word) ||
  DOUBLERS.has(word);

function isHalfMail(tail: string, pieces: readonly string[]): boolean {
  if (HALF_EMAIL.test(tail)) return true;
  if (JOINING_WORDS.has(lastOf(pieces))) return true;
  // "Jane dot doe" is a name, whose host is still to come.
  const isName = pieces.slice(1).some((piece) => JOINING_WORDS.has(piece.toLowerCase()));
  return !SIGNED.test(tail) && (isName || STOP_INSIDE.test(lastOf(pieces)));
}

function isHalfDate(tail: string, pieces: readonly string[]): boolean {
  const last = lastOf(pieces);
  const isOfDate = isSpelt(last) || MONTHS.has(last) || DATE_JOINTS.has(last) || isDay(last);
  return isOfDate && !YEAR.test(tail);
}

/** "The fifth", before its month, or a month alone, before its day. Of an appointment nobody tells the year. */
function isHalfDay(pieces: readonly string[]): boolean {
  const last = lastOf(pieces);
  if (DATE_JOINTS.has(last)) return true;
  if (pieces.some((piece) => MONTHS.has(piece.toLowerCase()))) return pieces.length === 1;
  const isAfterJoint = DATE_JOINTS.has(lastOf(pieces.slice(0, -1)));
  return isDay(last) || (isAfterJoint && isSpelt(last));
}

const isDay = (word: string): boolean =>
  DAYS.has(word) || GERMAN_DAY.test(word) || /^\d+(?:st|nd|rd|th)$/.test(word);

/** So many pieces or digits at the end that they are a dictation by themselves, or an address that goes on. */
function isRow(pieces: readonly string[]): boolean {
  const { run, digits } = rowAtEnd(pieces, isSpelt);
  if (run >= PIECES_UNASKED || digits >= PIECES_UNASKED) return true;
  return run > 1 && JOINING_WORDS.has(lastOf(pieces));
}

function isGivenInPieces(given: readonly string[], tail: string, question: string): boolean {
  const pieces = given.filter((piece, at) => !isInsideNumber(piece, at, given));
  const isAsked = asksForPieces(question);
  const isPiece = (piece: string) =>
    isSpelt(piece) || (isAsked && (SPELLING_NAMES.has(piece.toLowerCase()) || CODE.test(piece)));
  const { run, digits } = rowAtEnd(pieces, isPiece);
  // "I do not have one" ends with a word of numbers too.
  if (run > 1 || digits > 0) return isAsked || asksForPieces(tail);
  const lead = pieces.slice(0, pieces.length - run);
  return isAsked && run > 0 && lead.every((piece) => LEAD_INS.has(piece.toLowerCase()));
}

/** The "et" of "vingt et un". */
function isInsideNumber(piece: string, at: number, pieces: readonly string[]): boolean {
  if (!NUMBER_JOINTS.has(piece.toLowerCase())) return false;
  const [before, after] = [pieces[at - 1], pieces[at + 1]];
  return before !== undefined && after !== undefined && isSpelt(before) && isSpelt(after);
}

function rowAtEnd(
  pieces: readonly string[],
  isPiece: (piece: string) => boolean,
): { readonly run: number; readonly digits: number } {
  const run = pieces.length - 1 - pieces.findLastIndex((piece) => !isPiece(piece));
  return { run, digits: run === 0 ? 0 : digitCount(pieces.slice(-run)) };
}

function spokenPieces(text: string): string[] {
  return text
    .split(/[\s,;、，]+/)
    .map((piece) => piece.replace(/[.!?。]+$/, ""))
    .filter((piece) => piece !== "");
}

const lastOf = (pieces: readonly string[]): string => pieces.at(-1)?.toLowerCase() ?? "";

const isSpelt = (piece: string): boolean =>
  SPELT_PIECE.test(piece) || SPELT_WORDS.has(piece.toLowerCase()) || COMPOSED_NUMBER.test(piece);

function digitCount(pieces: readonly string[]): number {
  return pieces.join("").replace(/\D/g, "").length;
}
