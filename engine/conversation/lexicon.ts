/** Words of the languages that agents speak: tokens, phrases, numbers, and what makes a question. */

const CHARACTERS = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
const WORD = new RegExp(String.raw`${CHARACTERS}|[\p{L}\p{N}\p{M}'’]+`, "gu");
const CHARACTER = new RegExp(`^${CHARACTERS}$`, "u");
const APOSTROPHES = /['’]/g;

export interface SpokenWord {
  /** Lower case, without apostrophes; in Chinese and Japanese every character for itself. */
  readonly word: string;
  /** The index in the text behind its last character. */
  readonly end: number;
}

/** The words of a text as they are compared with each other; marks and spaces are none. */
export function spokenWords(text: string): readonly SpokenWord[] {
  const words: SpokenWord[] = [];
  for (const { 0: found, index } of text.matchAll(WORD)) {
    const word = found.toLowerCase().replace(APOSTROPHES, "");
    if (word !== "") words.push({ word, end: index + found.length });
  }
  return words;
}

/** Whether it is a character of Chinese or Japanese, which are compared one by one. */
export function isCharacter(word: string): boolean {
  return CHARACTER.test(word);
}

/** As `spokenWords`, without the places. */
export function wordsOf(text: string): readonly string[] {
  return spokenWords(text).map(({ word }) => word);
}

/** Whether both are the same words in the same order, whatever marks stand between them. */
export function isSameWords(one: string, other: string): boolean {
  return one === other || wordsOf(one).join(" ") === wordsOf(other).join(" ");
}

/** Longer utterances say something, whatever they are made of. */
const WORDS_MAX = 12;
/** As much, where every character is counted as a word. */
const CHARACTERS_MAX = 32;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Nobody spells them the same: "mmmm", "yeahhh". */
const DRAWN_OUT = /(\p{L})\1{2,}/gu;

/** Phrases that an utterance can be made of, compared without marks, capitals and apostrophes. */
export class PhraseList {
  readonly #phrases = new Set<string>();
  /** Phrases without their last words. */
  readonly #beginnings = new Set<string>();
  #wordsMax = 1;

  /** Phrases with commas or line breaks between them. */
  constructor(phrases: string) {
    for (const phrase of phrases.split(/[,\n]/)) {
      const words = comparable(phrase);
      this.#phrases.add(words.join(" "));
      for (let end = 1; end < words.length; end += 1) {
        this.#beginnings.add(words.slice(0, end).join(" "));
      }
      this.#wordsMax = Math.max(this.#wordsMax, words.length);
    }
  }

  /** Whether the text is one phrase after another and nothing else; a question is something else. */
  makesUp(text: string): boolean {
    return this.#wholeUpTo(wordsIn(text)).at(-1) === true;
  }

  /** Whether the text is the beginning of one that `makesUp`: more words may still come, and one more is needed. */
  begins(text: string): boolean {
    const words = wordsIn(text);
    const isWhole = this.#wholeUpTo(words);
    return words.some(
      (_, at) => isWhole[at] === true && this.#beginnings.has(words.slice(at).join(" ")),
    );
  }

  /** For each place whether the words before it are whole phrases; nothing of a text without words. */
  #wholeUpTo(words: readonly string[]): readonly boolean[] {
    if (words.length === 0) return [];
    const isWhole = [true];
    for (let end = 1; end <= words.length; end += 1) {
      isWhole.push(this.#endsPhrase(words, end, isWhole));
    }
    return isWhole;
  }

  #endsPhrase(words: readonly string[], end: number, isWhole: readonly boolean[]): boolean {
    for (let from = Math.max(0, end - this.#wordsMax); from < end; from += 1) {
      if (isWhole[from] === true && this.#phrases.has(words.slice(from, end).join(" ")))
        return true;
    }
    return false;
  }
}

/** None of a question, and of what is too long. */
function wordsIn(text: string): readonly string[] {
  const words = comparable(text);
  const countMax = UNSPACED.test(text) ? CHARACTERS_MAX : WORDS_MAX;
  return words.length > countMax || /[?？؟]/.test(text) ? [] : words;
}

function comparable(text: string): readonly string[] {
  return wordsOf(text.normalize("NFC")).map((word) => word.replace(DRAWN_OUT, "$1$1"));
}

/** Words that people say one after the other when they dictate: digits, marks, months, in the languages that agents mostly speak. */

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

const DIGITS = `zero oh nought one two three four five six seven eight nine ten double triple hundred thousand
  eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
  twenty thirty forty fifty sixty seventy eighty ninety
  cero uno dos tres cuatro cinco seis siete ocho nueve diez doble once doce trece catorce quince dieciséis diecisiete dieciocho
  diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien ciento mil
  zéro un deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze seize vingt vingts trente quarante cinquante
  soixante septante huitante octante nonante cent cents mille
  null eins zwei zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn
  neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend
  uno due tre quattro cinque sei sette otto nove dieci doppio undici dodici tredici quattordici quindici sedici diciassette diciotto
  diciannove venti trenta quaranta cinquanta sessanta settanta ottanta novanta cento
  um dois três meia sete oito dez doze treze catorze quatorze quinze dezasseis dezesseis dezassete dezessete dezoito dezanove
  dezenove vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem
  nul een twee drie vijf zes zeven negen tien dubbel twaalf dertien veertien vijftien zestien zeventien achttien negentien twintig
  dertig veertig vijftig zestig zeventig tachtig negentig honderd duizend
  jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście trzynaście czternaście piętnaście szesnaście
  siedemnaście osiemnaście dziewiętnaście dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt
  osiemdziesiąt dziewięćdziesiąt sto dwieście trzysta czterysta pięćset sześćset siedemset osiemset dziewięćset tysiąc
  sıfır bir iki üç dört beş altı yedi sekiz dokuz yirmi otuz kırk elli altmış yetmiş seksen doksan yüz
  शून्य एक दो तीन चार पांच पाँच छह छः सात आठ नौ डबल दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस तीस चालीस पचास साठ सत्तर
  अस्सी नब्बे सौ हज़ार हजार`;
/** Numbers that are written as one word of several. */
const COMPOSED = [
  String.raw`\p{L}*und(?:zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig)`,
  String.raw`\p{L}*(?:hundert|tausend)\p{L}*`,
  String.raw`\p{L}+(?:en|ën)(?:twintig|dertig|veertig|vijftig|zestig|zeventig|tachtig|negentig)`,
  String.raw`(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-\p{L}+`,
  String.raw`(?:vingt|trente|quarante|cinquante|soixante|quatre-vingts?)(?:-\p{L}+)+`,
  String.raw`quatre-vingts?|veinti\p{L}+|\p{L}{2,}cient[oa]s|quinient[oa]s|\p{L}{2,}centos|quinhentos|\p{L}{3,}cento`,
  String.raw`(?:vent|trent|quarant|cinquant|sessant|settant|ottant|novant)[ai]?(?:uno|un|due|tre|tré|quattro|cinque|sei|sette|otto|nove)`,
];
const MARKS = `at dot point dash hyphen underscore slash plus hash star arroba punto guion guión barra más
  arobase tiret slash bindestrich minus unterstrich punkt klammeraffe chiocciola trattino ponto hífen
  apenstaartje streepje małpa kropka myślnik nokta tire`;

/** Ends on these cannot be the end of an address or a number. */
export const JOINING_WORDS = setOf(MARKS);
export const SPELT_WORDS = setOf(`${DIGITS} ${MARKS}`);

/** "Einundzwanzig", "quarante-deux", "doscientos". */
export const COMPOSED_NUMBER = new RegExp(`^(?:${COMPOSED.join("|")})$`, "iu");
/** Between two words of one number: "vingt et un". */
export const NUMBER_JOINTS = setOf("and et und en ve y i e og och");

/** Before a digit that is said for two of them. */
export const DOUBLERS = setOf(
  "double triple doble triple doppio tripla duplo dubbel doppel zweimal dreimal डबल",
);
/** Behind a number these make it larger, and begin none. */
export const MAGNITUDES = setOf(`
  hundred thousand cien ciento mil cent cents mille hundert tausend cento mila honderd duizend sto tysiąc yüz bin सौ हज़ार हजार
`);
/** Between two numbers that are given one after the other: "the twelve, then the forty". */
export const LIST_JOINTS = setOf(`
  and then also plus et puis ensuite und dann danach sowie y luego después e poi depois en dan daarna i potem oraz ve sonra och sedan
  og så ja sitten the der die das den le la les el los il lo gli o os as de het
`);

/** What people say before the first piece, and nothing else: "it's capital". */
export const LEAD_INS = setOf(`
  it's it is that's that yes yeah sure okay ok so well my number code name the capital big small lowercase uppercase
  es ist sind ja die der das c'est oui le la sí es el è sì il é sim o het dat to tak
`);

/** How letters are told apart on the telephone; only after a question that asks for letters or digits. */
export const SPELLING_NAMES = setOf(`
  alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo
  sierra tango uniform victor whiskey xray yankee zulu
  anton berta cäsar dora emil friedrich gustav heinrich ida julius kaufmann ludwig martha nordpol otto paula quelle richard
  samuel siegfried theodor ulrich viktor wilhelm xanthippe ypsilon zacharias
`);

export const MONTHS = setOf(`
  january february march april may june july august september october november december
  januar jänner februar märz mai juni juli oktober dezember
  enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
  janvier février mars avril juin juillet août septembre octobre novembre décembre
  gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
  janeiro fevereiro março maio junho julho setembro outubro dezembro
  januari februari maart mei augustus
  stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
  ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
`);
/** Before a day or a month: a date does not end with one, and a number behind it is a day. */
export const DATE_JOINTS = setOf("of the der den dem am de del el le il di do dia den");
/** Days as dates have them. */
export const DAYS = setOf(`
  first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth
  seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth
  twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first premier primero primo primeiro
`);
/** "Ersten", "dritter", "einundzwanzigsten". */
export const GERMAN_DAY =
  /^(?:erste|zweite|dritte|vierte|fünfte|sechste|siebte|siebente|achte|neunte|zehnte|elfte|zwölfte|\p{L}+(?:zehnte|zigste|ßigste))[nr]?$/iu;

/** Whoever says one of these does not dictate. */
export const REFUSALS = setOf(`
  have can will no not don't dont none nothing why what who how sorry wait moment yes sure okay ok thanks
  nein nicht kein keine warum was ja non pas rien pourquoi quoi oui nada porque qué sí não sim niet geen waarom nie hayır let check look same skip later hold rather already before
`);

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

const MARK = /[?？؟՞][\s"'”’»)\]」』]*$/;
/** Languages that ask with a word, and seldom with a mark. */
const ASKING_WORD = /(?:か(?:ね|な)?|吗|嗎|呢)[。．.…]?[\s"”」』]*$|^क्या(?![\p{L}\p{M}])/u;
/** What asks for a "yes" as a statement does, in the languages that agreements are known in. */
const REQUEST = new RegExp(
  [
    String.raw`yes or no|(?:say|answer)[ ,:"“']+yes|please confirm|confirm (?:that|if|whether)`,
    String.raw`ja oder nein|(?:sagen sie|sag)[ ,:"„]+(?:bitte )?ja|bestätigen sie|bestätige`,
    String.raw`oui ou non|(?:dites|dis)[ ,:"«]+oui|confirmez|merci de confirmer`,
    String.raw`sí o no|diga[ ,:"«]+sí|confirm[ea](?:lo|me)?|confírm\p{L}+`,
    String.raw`sì o no|(?:dica|di)[ ,:"«]+sì|conferm[ia]`,
    String.raw`sim ou não|diga[ ,:"«]+sim`,
    String.raw`ja of nee|zeg[ ,:"„]+ja|bevestig`,
    String.raw`tak (?:lub|czy|albo) nie|potwierdź|potwierdzić`,
    String.raw`evet (?:veya|ya da) hayır|onayla\p{L}*`,
    String.raw`(?:हाँ|हां) या|पुष्टि`,
  ]
    .map((phrases) => String.raw`(?<![\p{L}\p{M}])(?:${phrases})(?![\p{L}\p{M}])`)
    .concat("はいかいいえ|「はい」|请确认|請確認|是或否|是还是不是")
    .join("|"),
  "iu",
);

/** Whether a sentence of the agent's wants an answer, so that "yes" or "okay" is one and not the sound of somebody who listens. */
export function isQuestion(text: string): boolean {
  return MARK.test(text) || ASKING_WORD.test(text) || REQUEST.test(text);
}
