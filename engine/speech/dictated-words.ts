/** Words that people say one after the other when they dictate: digits, marks, months, in the languages that agents mostly speak. */

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

const DIGITS = `zero oh nought one two three four five six seven eight nine ten double triple hundred
  eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
  twenty thirty forty fifty sixty seventy eighty ninety
  cero uno dos tres cuatro cinco seis siete ocho nueve diez doble
  zéro un deux trois quatre cinq sept huit neuf dix
  null eins zwei zwo drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig
  uno due quattro cinque sei sette otto nove dieci doppio
  um dois três meia sete oito dez
  nul een twee drie vijf zes zeven negen tien dubbel
  jeden dwa trzy cztery pięć sześć siedem osiem dziewięć
  sıfır bir iki üç dört beş altı yedi sekiz dokuz
  शून्य एक दो तीन चार पांच पाँच छह छः सात आठ नौ डबल`;
const MARKS = `at dot point dash hyphen underscore slash plus hash star arroba punto guion guión barra más
  arobase tiret slash bindestrich minus unterstrich punkt klammeraffe chiocciola trattino ponto hífen
  apenstaartje streepje małpa kropka myślnik nokta tire`;

/** Ends on these cannot be the end of an address or a number. */
export const JOINING_WORDS = setOf(MARKS);
export const SPELT_WORDS = setOf(`${DIGITS} ${MARKS}`);

/** How letters are told apart on the telephone; only after a question that asks for letters or digits. */
export const SPELLING_NAMES = setOf(`
  alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo
  sierra tango uniform victor whiskey xray yankee zulu
  anton berta cäsar dora emil friedrich gustav heinrich ida julius kaufmann ludwig martha nordpol otto paula quelle richard
  samuel siegfried theodor ulrich viktor wilhelm xanthippe ypsilon zacharias
`);

/** Months and days, of which a date of birth is made besides numbers. */
export const DATE_WORDS = setOf(`
  january february march april may june july august september october november december of the
  first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth
  seventeenth eighteenth nineteenth twentieth twenty-first thirtieth thirty-first
  januar jänner februar märz mai juni juli oktober dezember der am
  enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre de del
  janvier février mars avril juin juillet août septembre octobre novembre décembre le
  gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
  janeiro fevereiro março maio junho julho setembro outubro dezembro
  januari februari maart mei augustus
  stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
  ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
`);

/** Whoever says one of these does not dictate. */
export const REFUSALS = setOf(`
  have can will no not don't dont none nothing why what who how sorry wait moment yes sure okay ok thanks
  nein nicht kein keine warum was ja non pas rien pourquoi quoi oui nada porque qué sí não sim niet geen waarom nie hayır
`);
