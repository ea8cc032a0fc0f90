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
