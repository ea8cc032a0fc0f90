import assert from "node:assert/strict";
import { test } from "node:test";
import { isDictating } from "../../../engine/conversation/endpointing.js";

test("a caller who is asked for a number and begins with digits is dictating", () => {
  const questions = [
    "Sure. What is your phone number?",
    "Could you give me your e-mail address?",
    "Please spell your last name.",
    "¿Me da su número de teléfono?",
    "Quel est votre numéro de téléphone ?",
    "Wie ist Ihre Telefonnummer?",
  ];
  for (const question of questions) {
    assert.ok(isDictating("it is 0 7", question), question);
    assert.ok(isDictating("five five", question), question);
    assert.ok(isDictating("it is five five", question), question);
    assert.ok(isDictating("it begins with 7", question), question);
    assert.ok(!isDictating("I have five", question), question);
    assert.ok(!isDictating("I do not have one", question), question);
    assert.ok(!isDictating("", question), question);
  }
});

test("a row of digits or letters is a dictation without any question", () => {
  for (const text of [
    "my number is 555 12",
    "five five five one",
    "it's J O H N",
    "seis uno dos tres",
    "null eins sieben zwo",
    "call 0171 55",
  ]) {
    assert.ok(isDictating(text, ""), text);
  }
});

test("an address is not over after 'at' or 'dot'", () => {
  for (const text of [
    "jane J at",
    "it is 7 dot",
    "mail jane@example dot",
    "mail jane at example dot",
    "jane dot d at",
    "x guion 7 arroba",
  ]) {
    assert.ok(isDictating(text, ""), text);
  }
});

test("a whole e-mail address is over", () => {
  for (const text of [
    "it is jane at example dot com",
    "jane.doe@example.com",
    "jane arroba ejemplo punto es",
  ]) {
    assert.ok(!isDictating(text, "What is your e-mail address?"), text);
  }
});

test("ordinary talk with a number in it is not a dictation", () => {
  for (const text of [
    "I need two rooms",
    "a table for 2",
    "at nine",
    "I'd like to book for May 5",
    "no",
    "what are you looking at",
  ]) {
    assert.ok(!isDictating(text, "How can I help you today?"), text);
  }
});

test("a very long monologue is judged by its end, in no time", () => {
  assert.ok(isDictating(`${"and so on ".repeat(50_000)} 555 1234`, ""));
  assert.ok(!isDictating(`555 1234 ${"and so on ".repeat(50_000)}`, ""));
  assert.ok(!isDictating("@".repeat(100_000).concat(" ok then"), "phone number?"));
});

/** What the agent asked, and what the caller has said at each pause between the groups. */
const DICTATED: Readonly<Record<string, readonly [question: string, pauses: readonly string[]]>> = {
  "a card number": [
    "What is the card number?",
    ["4242", "4242 4242", "it's four two four two", "four two four two five five"],
  ],
  "a telephone number": [
    "Your phone number?",
    ["oh seven nine", "plus four nine", "zwei einundzwanzig"],
  ],
  "an IBAN": ["And your IBAN?", ["DE89", "DE89 3704", "D E eight nine"]],
  "a spelled name": [
    "Could you spell your last name?",
    [
      "S M",
      "S as in Sam M as in Mike",
      "M for Mike",
      "it's sierra mike",
      "double L",
      "S wie Siegfried",
    ],
  ],
  "an e-mail address": [
    "What is your e-mail address?",
    ["jane", "jane dot", "jane dot doe", "jane at", "it's jane at example", "jane@example"],
  ],
  "a postal address": [
    "What is your address?",
    ["twelve Baker Street", "12 Main Street apartment 4B", "12 Main Street Springfield"],
  ],
  "a date of birth": [
    "What is your date of birth?",
    ["the fifth", "the fifth of March", "March 5", "5", "der fünfte März", "March fifth nineteen"],
  ],
  "a number nobody asked for": [
    "How can I help you?",
    ["my order number is 4 5", "account number 77"],
  ],
  "an e-mail nobody asked for": ["How can I help?", ["my e-mail is jane at example"]],
  "Japanese digits": ["電話番号をお願いします。", ["〇九〇", "090", "私の番号は090", "ゼロ九ゼロ"]],
  "Chinese digits": ["电话号码是多少？", ["幺三八", "我的号码是一三八"]],
  "a number in pairs, in German": [
    "Wie lautet Ihre Telefonnummer?",
    [
      "null eins sieben",
      "dreiundvierzig zwölf",
      "ja, dreizehn fünfzehn",
      "plus neunundvierzig",
      "zweihundert",
    ],
  ],
  "a number in pairs, in French": [
    "Quel est votre numéro de téléphone ?",
    [
      "zéro six douze",
      "zéro six quarante-deux",
      "oui, zéro six, trente",
      "vingt et un",
      "quatre-vingt-trois",
    ],
  ],
  "a number in pairs, in Spanish": [
    "¿Cuál es su número de teléfono?",
    ["seis cuarenta y dos", "noventa y uno quinientos", "veintiuno", "seiscientos doce"],
  ],
  "a number in pairs, in Italian": [
    "Qual è il suo numero di telefono?",
    ["tre quattro sette dodici", "trentatré", "venti trenta"],
  ],
  "a number in pairs, in Portuguese": [
    "Qual é o seu número de telefone?",
    ["noventa e um", "nove doze"],
  ],
  "a number in pairs, in Dutch": [
    "Wat is uw telefoonnummer?",
    ["nul zes twaalf", "zes drieëntwintig", "vijfenzeventig"],
  ],
  "a number in hundreds, in Polish": ["Jaki jest pana numer?", ["sześćset dwa", "pięćset jeden"]],
  "a number in hundreds, in Turkish": ["Telefon numaranız nedir?", ["sıfır beş yüz", "elli beş"]],
  "a number in Hindi": ["आपका फ़ोन नंबर क्या है?", ["नौ आठ सात", "पंद्रह"]],
  "one letter of a code": ["What is the code?", ["it's A", "yes, capital S"]],
  "an e-mail's name": [
    "What's your e-mail address?",
    ["my e-mail address is jane dot doe", "yes it's jane dot doe", "that would be jane.doe"],
  ],
  "an e-mail's name, in German": [
    "Wie ist Ihre E-Mail-Adresse?",
    ["meine Adresse ist anna punkt müller", "anna unterstrich"],
  ],
  "where something is to be brought": [
    "Where should we deliver it?",
    ["12 Main Street", "twelve Baker Street"],
  ],
  "the day of an appointment": [
    "Which date would you like?",
    ["the fifth", "on Tuesday the twelfth", "on the fifth of", "March", "the 5th"],
  ],
  "the day of an appointment, in German": [
    "Wann möchten Sie kommen?",
    ["am fünften", "am 5.", "den zwölften"],
  ],
};

for (const [what, [question, pauses]] of Object.entries(DICTATED)) {
  test(`a pause in ${what} is not its end`, () => {
    for (const heard of pauses) assert.ok(isDictating(heard, question), heard);
  });
}

test("a date of birth is over with its year, an e-mail address with its last part", () => {
  for (const [heard, question] of [
    ["the fifth of March 1984", "What is your date of birth?"],
    ["March fifth nineteen eighty-four", "What is your date of birth?"],
    ["it is jane at example dot nl", "What is your e-mail address?"],
    ["I'd rather not say", "What is your address?"],
    ["why do you need that", "What is your address?"],
    ["the payment is due", "What is your account number?"],
    ["the fifth of March", "Which date would you like?"],
    ["next Tuesday", "When would you like to come?"],
    ["as soon as possible", "What day works for you?"],
    ["am fünften März", "Wann möchten Sie kommen?"],
    ["please send me an e-mail", "How can I help you?"],
    ["the same one", "What number should I call?"],
    ["perhaps seven", "What is the code?"],
  ] as const) {
    assert.ok(!isDictating(heard, question), heard);
  }
});

const ASKED_NOTHING = "How can I help you today?";
const NUMBER_RUNS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "four seven",
    "it's nine two",
    "double seven",
    "oh one double",
    "the twelve and then the forty",
  ],
  de: [
    "vier sieben",
    "die einundzwanzig, dann die sechzehn",
    "doppel drei",
    "also die acht, die neun",
  ],
  fr: ["quatre deux", "le quatre-vingt-dix, puis le douze", "six trente et un neuf"],
  es: ["siete cero", "el veintidós y luego el catorce", "doble cuatro"],
  it: ["otto uno", "il ventitré, poi il quindici", "sei sei"],
  nl: ["vijf negen", "de vierendertig en dan de achttien", "dubbel twee"],
  pt: ["três oito", "o vinte e dois, depois o quinze"],
  pl: ["pięć dwa", "trzydzieści pięć, potem czternaście"],
  tr: ["altı üç", "otuz beş, sonra kırk iki"],
  hi: ["चार सात"],
  sv: ["fyra sju"],
};

for (const [language, runs] of Object.entries(NUMBER_RUNS)) {
  test(`a pause within a run of numbers is not its end, whatever was asked, in ${language}`, () => {
    for (const heard of runs) assert.ok(isDictating(heard, ASKED_NOTHING), heard);
  });
}

test("one number, a time of day and two numbers with other words between them are no run", () => {
  for (const heard of [
    "forty five",
    "fünfundvierzig",
    "quatre-vingt-dix",
    "vingt et un",
    "treinta y dos",
    "seven thirty",
    "sieben dreißig",
    "two adults",
    "two or three",
    "from nine to five",
    "a table for 2 at 7",
    "no one",
    "just once",
  ]) {
    assert.ok(!isDictating(heard, ASKED_NOTHING), heard);
  }
});

test("a compound asks for what its last part says", () => {
  for (const [question, heard] of [
    ["Wie lautet Ihre Vertragsnummer?", "47"],
    ["Und Ihr Geschäftszeichen?", "12"],
    ["Wat is uw polisnummer?", "47"],
    ["Vad är ditt kundnummer?", "47"],
    ["Mikä on tilausnumeronne?", "47"],
    ["Nennen Sie mir bitte den Zugangscode.", "ja, drei"],
    [ASKED_NOTHING, "die Rechnungsnummer 47"],
    [ASKED_NOTHING, "mijn lidnummer 47"],
  ] as const) {
    assert.ok(isDictating(heard, question), heard);
  }
  assert.ok(!isDictating("47", "Wie alt sind Sie?"));
});

const NUMBER = "What is your phone number?";
const MAIL = "What is your e-mail address?";
const BIRTH = "What is your date of birth?";
const DAY = "Which date would you like?";
const HELP = "How can I help you?";

/** What is heard after each question, and whether more of it is to come. */
const CASES: Readonly<Record<string, readonly (readonly [string, string, boolean])[]>> = {
  "four digits, two numbers or four pieces in a row are a dictation that nobody asked for": [
    [HELP, "0171", true],
    [HELP, "017", false],
    [HELP, "01 7", true],
    [HELP, "one two three four", true],
    [HELP, "one two", true],
    [HELP, "one", false],
    [HELP, "A B C", false],
    [HELP, "4242 4242 please", false],
    [HELP, "it is 7 dot", true],
    [HELP, "looking at", false],
    [HELP, "i was born in bonn and my number is 0171", true],
  ],
  "two pieces, or a digit, are one where a number is asked for or announced": [
    [NUMBER, "perhaps five five", true],
    [NUMBER, "perhaps five", false],
    [NUMBER, "perhaps 5", true],
    [HELP, "my pin is five five", true],
    [HELP, "my pin is five", false],
    [HELP, "there are five five", true],
  ],
  "one piece is one behind what people say before it, and those words alone are none": [
    [NUMBER, "five", true],
    [NUMBER, "yes it's five", true],
    [NUMBER, "we have five", false],
    ["Do you have a customer number?", "yes", false],
    ["Do you have a customer number?", "yes it's", false],
  ],
  "names of letters and groups of capitals are pieces only where they are asked for": [
    [NUMBER, "sierra mike", true],
    [HELP, "sierra mike lima oscar", false],
    ["And your IBAN?", "it's NWBK", true],
    ["And your IBAN?", "OK", false],
    [HELP, "NWBK ABCD EFGH IJKL", false],
  ],
  "a joint is part of a number between two others alone": [
    [NUMBER, "vingt et un", true],
    [NUMBER, "vingt et", false],
    [NUMBER, "et un", false],
    [NUMBER, "vingt et madame", false],
  ],
  "marks between the pieces do not count": [
    [HELP, "one, two;three、four.", true],
    ["电话号码是多少？", "一。", true],
    [HELP, "one! two! three! four!", true],
  ],
  "up to four words may be an e-mail's name": [
    [MAIL, "jane from the office", true],
    [MAIL, "jane from the big office", false],
    [MAIL, "why the office", false],
  ],
  "an e-mail's name may have more, but then it has a mark inside and no sign yet": [
    [MAIL, "jane dot doe from the big office", true],
    [MAIL, "it is the one from jane.doe", true],
    [MAIL, "dot is what the big office says", false],
    [MAIL, "you find jane at example house in town", false],
    [MAIL, "you find jane at example", true],
    [MAIL, "it is the name of jane dot", true],
    [HELP, "my mail is jane dot doe", true],
    [HELP, "that is jane dot doe", false],
  ],
  "a date of birth that is told unasked goes on up to its year": [
    [HELP, "my date of birth is the fifth", true],
    [HELP, "my date of birth is the fifth of March", true],
    [HELP, "I was born on March fifth 1984", false],
    [HELP, "my birthday was lovely", false],
    [BIRTH, "March", true],
    [BIRTH, "the", true],
    [BIRTH, "the 5th", true],
    [BIRTH, "einundzwanzigsten", true],
    [BIRTH, "lovely", false],
    [BIRTH, "yes", false],
  ],
  "a day goes on up to its month, and a month alone up to its day": [
    [DAY, "on the", true],
    [DAY, "the 5", true],
    [DAY, "around 5", false],
    [DAY, "March", true],
    [DAY, "in March", false],
    [DAY, "the fifth please", false],
    [DAY, "fifth", true],
    [HELP, "the fifth", false],
  ],
  "an address that was asked for goes on, but a refusal does not": [
    ["What is your address?", "the big house", true],
    ["What is your address?", "I have no house", false],
    [HELP, "the big house", false],
  ],
  "whoever asks has ended": [
    [NUMBER, "5 5 5?", false],
    [NUMBER, "5 5 5？", false],
    [NUMBER, "   ", false],
  ],
};

for (const [title, cases] of Object.entries(CASES)) {
  test(title, () => {
    for (const [question, heard, isExpected] of cases) {
      assert.equal(isDictating(heard, question), isExpected, `${question} ${heard}`);
    }
  });
}

test("the last two hundred characters of the words and of the question count", () => {
  const asked = (between: number) => `${NUMBER}${"x".repeat(between)}`;
  assert.ok(isDictating("five", asked(200 - "number?".length)));
  assert.ok(!isDictating("five", asked(200 - "umber?".length)));
  const said = (between: number) => `mail ${"x".repeat(between)} jane dot doe`;
  const others = "mail  jane dot doe".length;
  assert.ok(isDictating(said(200 - others), HELP));
  assert.ok(!isDictating(said(201 - others), HELP));
});
