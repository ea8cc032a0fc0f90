import { COMPOSED_NUMBER } from "./dictated-words.js";

/** Is said wherever it stands. */
const ZERO = "0\\d*";
/** From zero on, to nineteen where those are words of their own. */
const ONES = `
  zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
  zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
  oh
  null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn
  null ein zwo
  nullte erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte
  nullten ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften
  cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve
  cero un
  zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize
  zéro une
  zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove
  zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove
  zero uma duas três quatro cinco meia sete oito nove dez onze doze treze catorze quinze dezasseis dezassete dezoito dezanove
  nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien
  zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście trzynaście czternaście piętnaście szesnaście siedemnaście osiemnaście dziewiętnaście
  sıfır bir iki üç dört beş altı yedi sekiz dokuz
`;
/** From twenty on, by tens. */
const TENS = `
  twenty thirty forty fifty sixty seventy eighty ninety
  twentieth thirtieth
  zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig
  veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa
  vingt trente quarante cinquante soixante septante huitante nonante
  venti trenta quaranta cinquanta sessanta settanta ottanta novanta
  vinte trinta quarenta cinquenta sessenta setenta oitenta noventa
  twintig dertig veertig vijftig zestig zeventig tachtig negentig
  dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt
  yirmi otuz kırk elli altmış yetmiş seksen doksan
`;
/** What is said between the digits of a number and behind them, and stands in none of them. */
const JOINTS = new Set(
  `hundred thousand million and point dot oclock dollar dollars cent cents euro euros pound pounds pence percent
  hundert tausend und komma uhr prozent ciento cien mil y coma dólares pesos euros por ciento cent cents mille et virgule heures
  cento mila e virgola virgola percento reais centavos vírgula honderd duizend en komma uur procent sto tysiąc złotych przecinek
  yüz bin virgül lira buçuk`.split(/\s+/),
);
/** Shorter words stand in others by chance. */
const PART_CHARS_MIN = 4;
/** So many digits may be said one by one; "three" stands in fewer only where it is not said as "thirty". */
const SPELT_DIGITS_MIN = 4;
/** So many words are known at most before all are forgotten. */
const KNOWN_WORDS_MAX = 2_000;

/** What stands in a number in digits that is said with the word: "3" for "three", "2" with a digit behind it for "twenty". */
const PATTERNS = new Map<string, string>([
  ...rowsOf(ONES).flatMap((row) =>
    row.map((word, at) => [word, at === 0 ? ZERO : `${at}`] as const),
  ),
  ...rowsOf(TENS).flatMap((row) => row.map((word, at) => [word, `${at + 2}\\d`] as const)),
]);

function rowsOf(lines: string): readonly string[][] {
  return lines
    .trim()
    .split("\n")
    .map((line) => line.trim().split(" "));
}

/** Which digits a word says: all of these stand in a number of few digits, and in a longer one. */
interface SaidDigits {
  readonly inFew: readonly RegExp[];
  readonly inMany: readonly RegExp[];
}

/** The same words are asked for with every guess at what a caller says; undefined for those that say no digits. */
const knownWords = new Map<string, SaidDigits | undefined>();

function saidDigits(word: string): SaidDigits | undefined {
  if (knownWords.has(word)) return knownWords.get(word);
  if (knownWords.size >= KNOWN_WORDS_MAX) knownWords.clear();
  const said = saidDigitsOf(word);
  knownWords.set(word, said);
  return said;
}

function saidDigitsOf(word: string): SaidDigits | undefined {
  const pattern = PATTERNS.get(word);
  if (pattern !== undefined) {
    // "Three" stands at the end of 503, and two digits before the end of 350.
    return { inFew: [new RegExp(`${pattern}(?:\\d\\d)?$`)], inMany: [new RegExp(pattern)] };
  }
  if (!COMPOSED_NUMBER.test(word)) return undefined;
  const inMany = [...PATTERNS]
    .filter(([part]) => part.length >= PART_CHARS_MIN && word.includes(part))
    .map(([, part]) => new RegExp(part));
  return inMany.length === 0 ? undefined : { inFew: inMany, inMany };
}

/** Whether a word, in lower case and without apostrophes, begins with a digit. */
export function isInDigits(word: string): boolean {
  const first = word.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}

/** Whether the word may be said for a number in digits, or for a part of it: "thirty" for "30", and neither "three" nor "forty". */
export function saysDigits(word: string, digits: string): boolean {
  const said = saidDigits(word);
  if (said === undefined) return false;
  const number = digits.replace(/\D+/g, "");
  const patterns = number.length >= SPELT_DIGITS_MIN ? said.inMany : said.inFew;
  return patterns.every((pattern) => pattern.test(number));
}

/** Whether the word may go on with a number in digits that was said in part: "hundred" and "seven" of "427", "dollars" behind it. */
export function goesOnWithDigits(word: string, digits: string): boolean {
  return JOINTS.has(word) || saysDigits(word, digits);
}
