import { COMPOSED_NUMBER } from "./dictated-words.js";

/** Is said wherever it stands. */
const ZERO = "0\\d*";
/** From zero on, to nineteen where those are words of their own. */
const ONES = `
  zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
  oh
  null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn
  null ein zwo
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
  शून्य एक दो तीन चार पांच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस
  nolla yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän
  noll ett två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton arton nitton
`;
/** Ordinals say the days of dates, from "zeroth" on, and no longer number. */
const ORDINALS = `
  zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
  nullte erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte
  nullten ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften
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

/** What a word says of a number in digits. */
interface NumberWord {
  /** "3" for "three", "2" with a digit behind it for "twenty"; where it may stand in a number of few digits and in a longer one. */
  readonly inFew: RegExp;
  readonly inMany: RegExp | undefined;
  /** So many digits are said with it. */
  readonly digitCount: number;
}

const ONES_SAID = Array.from({ length: 20 }, (_, value) =>
  saying(value === 0 ? ZERO : `${value}`, `${value}`.length),
);
const TENS_SAID = Array.from({ length: 8 }, (_, at) => saying(`${at + 2}\\d`, 1));
const ORDINALS_SAID = ONES_SAID.map((said) => ({ ...said, inMany: undefined }));

const NUMBER_WORDS = new Map<string, NumberWord>([
  ...wordsSaying(ORDINALS, ORDINALS_SAID),
  ...wordsSaying(ONES, ONES_SAID),
  ...wordsSaying(TENS, TENS_SAID),
]);

/** In each of the lines a word stands where what it says does. */
function wordsSaying(
  lines: string,
  said: readonly NumberWord[],
): readonly (readonly [string, NumberWord])[] {
  const rows = lines
    .trim()
    .split("\n")
    .map((line) => line.trim().split(" "));
  return said.flatMap((what, at) =>
    rows.flatMap(({ [at]: word }) => (word === undefined ? [] : [[word, what] as const])),
  );
}

/** "Three" stands at the end of 503, and two digits before the end of 350. */
function saying(pattern: string, digitCount: number): NumberWord {
  const inFew = new RegExp(`${pattern}(?:\\d\\d)?$`, "g");
  return { inFew, inMany: new RegExp(pattern, "g"), digitCount };
}

/** The same words are asked for with every guess at what a caller says: the parts of composed ones, none for all others. */
const knownParts = new Map<string, readonly NumberWord[]>();

/** "Sieben" and "zwanzig" of "siebenundzwanzig". */
function partsOf(word: string): readonly NumberWord[] {
  const known = knownParts.get(word);
  if (known !== undefined) return known;
  if (knownParts.size >= KNOWN_WORDS_MAX) knownParts.clear();
  const parts = COMPOSED_NUMBER.test(word)
    ? [...NUMBER_WORDS].filter(([part]) => part.length >= PART_CHARS_MIN && word.includes(part))
    : [];
  const said = parts.map(([, part]) => part);
  knownParts.set(word, said);
  return said;
}

const VALUES = new Map<string, number>([
  ...valuesOf(ONES, (at) => at),
  ...valuesOf(TENS, (at) => (at + 2) * 10),
]);
/** A composed number is larger than each of its parts. */
const COMPOSED_VALUE = 100;

function valuesOf(
  lines: string,
  valueAt: (at: number) => number,
): readonly (readonly [string, number])[] {
  const rows = lines.trim().split("\n");
  return rows.flatMap((row) =>
    row
      .trim()
      .split(" ")
      .map((word, at) => [word, valueAt(at)] as const),
  );
}

/** The number that a word in lower case says, in words or in digits; 100 for one that is composed of several. */
export function numberSaidBy(word: string): number | undefined {
  if (/^\d+$/.test(word)) return Number(word);
  return VALUES.get(word) ?? (COMPOSED_NUMBER.test(word) ? COMPOSED_VALUE : undefined);
}

/** Whether a word, in lower case and without apostrophes, begins with a digit. */
export function isInDigits(word: string): boolean {
  const first = word.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}

/**
 * How many digits of a number have been said when the word has, of which `saidCount` were said before: "thirty" says "30", and
 * neither "three" nor "forty" does. Undefined for a word that says none of the rest.
 */
export function saidDigits(word: string, number: string, saidCount = 0): number | undefined {
  const digits = number.replace(/\D+/g, "");
  const single = NUMBER_WORDS.get(word);
  if (single === undefined) return saidByParts(partsOf(word), digits, saidCount);
  const { inFew, inMany, digitCount } = single;
  const pattern = digits.length >= SPELT_DIGITS_MIN ? inMany : inFew;
  const at = placeOf(pattern, digits, saidCount) ?? spelledPlace(single, digits, saidCount);
  return at === undefined ? undefined : at + digitCount;
}

/** One digit behind the other, whatever its place is. */
function spelledPlace(word: NumberWord, digits: string, saidCount: number): number | undefined {
  if (saidCount === 0 || word.digitCount > 1) return undefined;
  return placeOf(word.inMany, digits, saidCount) === saidCount ? saidCount : undefined;
}

/** Units come before tens in some languages, so that nothing is known of the order. */
function saidByParts(
  parts: readonly NumberWord[],
  digits: string,
  saidCount: number,
): number | undefined {
  const isSaid = parts.every(({ inMany }) => placeOf(inMany, digits, saidCount) !== undefined);
  return parts.length === 0 || !isSaid ? undefined : Math.min(digits.length, saidCount + 2);
}

function placeOf(pattern: RegExp | undefined, digits: string, from: number): number | undefined {
  if (pattern === undefined) return undefined;
  pattern.lastIndex = from;
  return pattern.exec(digits)?.index;
}

/** What is said between the digits of a number or behind them: "hundred", "dollars". */
export function isNumberJoint(word: string): boolean {
  return JOINTS.has(word);
}
