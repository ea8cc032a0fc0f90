import assert from "node:assert/strict";
import { test } from "node:test";
import { isBackchannelPhrase } from "../../../engine/conversation/backchannel.js";
import {
  isDictating,
  isOpenEnded,
  predictsContinuation,
} from "../../../engine/conversation/endpointing.js";
import {
  answeringMachineIn,
  DAYS,
  isAcceptance,
  isInDigits,
  isNumberJoint,
  isQuestion,
  LEXICONS,
  PhraseList,
  SPELT_WORDS,
  screeningAnswer,
  spokenDigits,
  spokenNumber,
  stockPhrases,
  tablePhrases,
  tableWords,
} from "../../../engine/conversation/lexicon.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { HELD_OUT_MACHINES } from "./held-out-machines.js";
import { HELD_OUT, type HeldOutPhrases } from "./held-out-phrases.js";

const ANSWERS: readonly (readonly [string, string, boolean | undefined])[] = [
  ["en-US", "Yes, please.", true],
  ["en", "Sure, put them through.", true],
  ["en", "No, not now. Yes, later.", false],
  ["en", "I am in a meeting", undefined],
  ["en", "", undefined],
  ["de-DE", "Ja, gerne.", true],
  ["de", "Nein danke.", false],
  ["fr-FR", "Oui", true],
  ["pt-BR", "Sim, claro.", true],
  ["sv", "Yes.", true],
  ["ja", "はい。", true],
  ["ja", "いいえ", false],
  ["zh-CN", "不是", false],
  ["xx", "yes", true],
  ["en", "Yeah, who is this?", undefined],
  ["en", "Yes, Miller speaking.", undefined],
  ["en", "Okay hold on a second", undefined],
  ["en", "Yeah, sure, thank you.", true],
  ["de", "Ja, hallo?", undefined],
  ["de", "Ja, Müller hier.", undefined],
  ["es", "¿Sí? Dígame.", undefined],
  ["es", "Sí, gracias", true],
  ["fr", "Oui, allô ?", undefined],
  ["it", "Sì, pronto.", undefined],
  ["ja", "はい、田中です。", undefined],
  ["ja", "はい、お願いします。", true],
  ["zh", "您好", undefined],
  ["zh", "你好，请讲", undefined],
  ["zh", "是的，好。", true],
  ["pt", "Sim, está lá?", undefined],
  ["nl", "Ja, met Jan.", undefined],
  ["pl", "Tak, słucham.", undefined],
  ["tr", "Evet, buyurun.", undefined],
  ["hi", "हाँ जी, बोलिए", undefined],
];
for (const [language, text, expected] of ANSWERS) {
  test(`"${text}" (${language}) ${expected === undefined ? "neither accepts nor declines" : expected ? "accepts" : "declines"} a call`, () => {
    assert.equal(isAcceptance(language, text), expected);
  });
}

/** As many of the phrases as there are of the kind, and how many of those are found. */
function foundOf(
  language: string,
  phrases: readonly string[],
  kind: ReturnType<typeof answeringMachineIn>,
): { readonly found: number; readonly missed: readonly string[] } {
  const missed = phrases.filter((phrase) => answeringMachineIn(language, phrase) !== kind);
  return { found: phrases.length - missed.length, missed };
}

test("machines that screen calls are recognized in held-out phrases, and few are missed", () => {
  const missed: string[] = [];
  let count = 0;
  for (const [language, { screeners }] of Object.entries(HELD_OUT_MACHINES)) {
    count += screeners.length;
    missed.push(...foundOf(language, screeners, "screener").missed);
  }
  assert.ok(missed.length <= 0.2 * count, `${missed.length} of ${count}: ${missed.join(" | ")}`);
});

for (const [language, { voicemails, people }] of Object.entries(HELD_OUT_MACHINES)) {
  test(`held-out greetings of machines and people are no call screening (${language})`, () => {
    const taken = [...voicemails, ...people].filter(
      (phrase) => answeringMachineIn(language, phrase) === "screener",
    );
    assert.deepEqual(taken, []);
    assert.deepEqual(foundOf(language, people, undefined).missed, []);
  });
}

test("an agent gives its own and its organization's name to a screener, in its language", () => {
  const names = { agent: "Ada $&", organization: "Acme" };
  assert.equal(
    screeningAnswer("en-GB", names),
    "This is Ada $&, calling from Acme. Could you put me through, please?",
  );
  assert.match(screeningAnswer("de-AT", names), /^Hier ist Ada \$&, ich rufe für Acme an\./);
  assert.match(screeningAnswer("pt-BR", names), /^Fala Ada/);
  assert.match(screeningAnswer("xx", names), /^This is/);
});

test("languages with stock phrases have words for machines that answer", () => {
  for (const [language, { stockPhrases: phrases, answering }] of Object.entries(LEXICONS)) {
    if (phrases === undefined || language === "pt-br") continue;
    assert.ok(answering !== undefined, language);
    assert.ok(["{agent}", "{organization}"].every((n) => answering.screeningAnswer.includes(n)));
  }
});

test("a number is in each language once, and all of it is dictated as well as counted", () => {
  for (const [language, { ones, tens, magnitudes, moreNumbers }] of Object.entries(LEXICONS)) {
    const words = [ones, tens, magnitudes, moreNumbers].flatMap(tableWords);
    assert.deepEqual(words, [...new Set(words)], language);
    for (const word of words) assert.ok(SPELT_WORDS.has(word), `${language} ${word}`);
    for (const word of [ones, tens].flatMap(tableWords)) {
      assert.notEqual(spokenNumber(word), undefined, `${language} ${word}`);
    }
  }
});

test("words that only one of two lists had before are numbers everywhere now", () => {
  assert.deepEqual(
    ["octante", "पाँच", "छः", "बीस", "नब्बे"].map((word) => spokenNumber(word)),
    [80, 5, 6, 20, 90],
  );
  assert.ok(isDictating("um dois três quatro", ""), "four in Portuguese");
  assert.ok(isDictating("yksi kaksi kolme neljä", ""), "Finnish");
  assert.ok(isDictating("ett två tre fyra", ""), "Swedish");
  assert.ok(["doppel", "zweimal", "tripla", "duplo"].every((word) => SPELT_WORDS.has(word)));
  assert.ok(["og", "och", "i", "ve", "cem", "सौ"].every(isNumberJoint));
  assert.ok(!SPELT_WORDS.has("bin"), "a thousand in Turkish, and 'am' in German");
  assert.ok(!DAYS.has("zeroth") && DAYS.has("twentieth") && DAYS.has("primeiro"));
});

test("a language says all stock phrases itself or none, and no table has an empty phrase", () => {
  const fields = Object.keys(stockPhrases("en")).sort();
  for (const [language, lexicon] of Object.entries(LEXICONS)) {
    const { stockPhrases: phrases } = lexicon;
    if (phrases !== undefined) {
      assert.deepEqual(Object.keys(phrases).sort(), fields, language);
      assert.ok(
        Object.values(phrases).every((phrase) => phrase.length > 0),
        language,
      );
    }
    assert.ok([...tablePhrases(lexicon.backchannels)].every((phrase) => phrase !== ""));
  }
});

test("Brazil has its own stock phrases, other regions those of their language, other languages the English ones", () => {
  assert.equal(stockPhrases("pt-BR").stillThere, "Você ainda está aí?");
  assert.equal(stockPhrases("pt-PT"), stockPhrases("pt"));
  assert.notEqual(stockPhrases("pt-BR").waiting[1], stockPhrases("pt").waiting[1]);
  assert.equal(stockPhrases("de-AT"), stockPhrases("de"));
  assert.equal(stockPhrases("sv-SE"), stockPhrases("en"));
  assert.equal(stockPhrases("constructor"), stockPhrases("en"));
});

test("the Polish agent asks whether the caller is still there, not whether another person is", () => {
  assert.equal(stockPhrases("pl-PL").stillThere, "Halo, czy nadal jesteśmy połączeni?");
});

const LIST = new PhraseList(
  tablePhrases(`yes, of course it is, ok,, mm,
    はい, ん, 好的, I’m in`),
);

test("words that are one phrase after another are made of them, and no others", () => {
  for (const text of ["yes", "Yes, of course it is! OK", "ok ok ok", "of course it is", "im in"]) {
    assert.ok(LIST.makesUp(text), text);
  }
  for (const text of ["", "...", "course it is", "of course", "yes no", "no yes", "of", "yes it"]) {
    assert.ok(!LIST.makesUp(text), text);
  }
});

test("a question is made of none", () => {
  for (const text of ["yes?", "好的？", "ok؟"]) assert.ok(!LIST.makesUp(text), text);
});

test("the beginning of a phrase, after whole ones, may become one", () => {
  for (const text of ["of", "of course", "yes of course it", "I'm", "好"]) {
    assert.ok(LIST.begins(text), text);
  }
  for (const text of ["", "yes", "course", "no of", "of of", "of course it is"]) {
    assert.ok(!LIST.begins(text), text);
  }
});

test("a drawn-out sound is the sound, and two letters are no drawn-out one", () => {
  assert.ok(LIST.makesUp("mmmmm"));
  assert.ok(!LIST.makesUp("m"));
  assert.ok(!LIST.makesUp("yess"));
});

test("twelve words are listened to, and thirty-two characters where there are no spaces", () => {
  assert.ok(LIST.makesUp("yes ".repeat(12)));
  assert.ok(!LIST.makesUp("yes ".repeat(13)));
  assert.ok(LIST.makesUp("はい".repeat(16)));
  assert.ok(!LIST.makesUp(`${"はい".repeat(16)}ん`));
  assert.ok(LIST.begins(`${"yes ".repeat(11)}of`));
  assert.ok(!LIST.begins(`${"yes ".repeat(12)}of`));
});

const saysDigits = (word: string, digits: string) => spokenDigits(word, digits) !== undefined;

/** How many digits of a number each of the words says, one after the other. */
function saidWith(words: string, digits: string): readonly (number | undefined)[] {
  let said: number | undefined = 0;
  return words.split(" ").map((word) => {
    said = spokenDigits(word, digits, said);
    return said;
  });
}

test("words say the digits of a number where these stand, in the languages that agents mostly speak", () => {
  for (const [digits, ...words] of [
    ["8", "eight", "acht", "ocho", "huit", "otto", "oito", "osiem", "sekiz", "eighth", "achten"],
    [
      "30",
      "thirty",
      "dreißig",
      "treinta",
      "trente",
      "trenta",
      "trinta",
      "dertig",
      "otuz",
      "thirtieth",
    ],
    ["13", "thirteen", "dreizehn", "trece", "treize", "tredici", "treze", "dertien", "trzynaście"],
    ["27", "twenty", "seven", "siebenundzwanzig", "zevenentwintig", "veintisiete", "ventisette"],
    ["350", "three", "fifty", "dreihundertfünfzig", "trescientos"],
    ["05", "oh", "five"],
    ["48213", "four", "eight", "two", "one", "three", "forty", "thirteen"],
    ["1430", "fourteen", "thirty", "four"],
    ["21st", "twenty", "first"],
  ] as const) {
    for (const word of words) assert.equal(saysDigits(word, digits), true, `${word} for ${digits}`);
  }
});

test("other words, and numbers of which the digits stand elsewhere, do not", () => {
  for (const [digits, ...words] of [
    ["8", "freight", "hunderttausend"],
    ["4", "three", "fourteen", "forty", "for", "4", ""],
    ["30", "three", "zwanzig", "vierzig", "zweiunddreißig"],
    ["13", "two", "thirty"],
    ["27", "two", "seventeen", "seventy", "achtundzwanzig"],
    ["427", "thirty-seven", "two"],
  ] as const) {
    for (const word of words)
      assert.equal(saysDigits(word, digits), false, `${word} for ${digits}`);
  }
});

test("the words of a number say its digits one after the other", () => {
  assert.deepEqual(saidWith("four twenty seven", "427"), [1, 2, 3]);
  assert.deepEqual(saidWith("four two seven", "427"), [1, 2, 3]);
  assert.deepEqual(saidWith("four eight two one three", "48213"), [1, 2, 3, 4, 5]);
  assert.deepEqual(saidWith("fourteen thirty", "1430"), [2, 3]);
  assert.deepEqual(saidWith("siebenundzwanzig", "27"), [2]);
  assert.equal(spokenDigits("two", "427", 2), undefined);
  assert.equal(spokenDigits("four", "48213", 1), undefined);
  assert.equal(spokenDigits("three", "30", 1), undefined);
  assert.equal(spokenDigits("eight", "86"), undefined);
});

test("ordinals say short numbers, of dates, and no longer ones", () => {
  assert.equal(saysDigits("second", "2"), true);
  assert.equal(saysDigits("second", "48213"), false);
});

test("some words are said between the digits of a number and after them", () => {
  assert.deepEqual(["hundred", "dollars", "and", "friday"].map(isNumberJoint), [
    true,
    true,
    true,
    false,
  ]);
});

test("a word is in digits that begins with one", () => {
  assert.deepEqual(["8", "0", "9pm", "a1", "/", ":", ""].map(isInDigits), [
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("words are recognized as before after the cache overflowed", () => {
  for (let n = 0; n < 5_000; n += 1) assert.equal(saysDigits(`word${n}`, "27"), false);
  assert.equal(saysDigits("siebenundzwanzig", "27"), true);
  assert.equal(saysDigits("achtundzwanzig", "27"), false);
});

const QUESTIONS = [
  "Shall I book it?",
  'And is that the "late checkout"?',
  "¿Sigue usted ahí?",
  "Êtes-vous toujours là ?",
  "هل أنت هناك؟",
  "もしもし、聞こえますか。",
  "ほかにご用件はございますか。",
  "您还在吗。",
  "क्या आप लाइन पर हैं",
];
const REQUESTS = [
  "Please say yes or no.",
  "Just say yes.",
  "Please confirm that the address is right.",
  "Bitte bestätigen Sie die Adresse.",
  "Sagen Sie bitte ja oder nein.",
  "Confirmez, s'il vous plaît.",
  "Por favor, confirme la dirección.",
  "Diga sim ou não.",
  "Proszę potwierdzić adres.",
  "Lütfen onaylayın.",
  "请确认地址。",
  "कृपया पुष्टि करें।",
];
const STATEMENTS = [
  "Let me know if you need anything else.",
  "メールをご確認ください。",
  "We have three rooms with a view of the lake.",
  "I have confirmed your booking.",
  "You said yes.",
  "Das Zimmer ist frei.",
  "C'est noté.",
  "Su habitación está confirmada.",
  "はい、空いております。",
  "好的，已经订好了。",
  "कमरा खाली है।",
];

test("what ends with the mark or the word of its language is a question", () => {
  for (const text of QUESTIONS) assert.ok(isQuestion(text), text);
});

test("a statement that asks for a word is a question too", () => {
  for (const text of REQUESTS) assert.ok(isQuestion(text), text);
});

test("a mere statement is not a question", () => {
  for (const text of STATEMENTS) assert.ok(!isQuestion(text), text);
});

/** How many of the phrases of all languages are so. */
function count(
  kind: keyof HeldOutPhrases,
  isSo: (text: string, language: string) => boolean,
): number {
  const each = Object.entries(HELD_OUT).map(
    ([language, phrases]) => phrases[kind].filter((text) => isSo(text, language)).length,
  );
  return each.reduce((sum, found) => sum + found, 0);
}

const waits = (text: string, language: string): boolean =>
  isDictating(text, "") || isOpenEnded(text, language);

/** After two turns whose ends the recognizer has marked. */
function waitsBehindMarks(text: string, language: string): boolean {
  const { state } = new RecordedCall(PLAIN_SETTINGS).actor;
  const said = (content: string) => ({ role: "user", content, createdAtMs: 0 }) as const;
  const history = [...state.record.history, said("Good morning."), said("That is right.")];
  return predictsContinuation(
    changed(state, { record: { history }, settings: { ...state.settings, language } }),
    text,
  );
}

const marked = (text: string): string => (/[?]$/.test(text) ? text : `${text}.`);

// The figures stand in docs/guides/turn-taking.md; a change that moves one of them changes both.

/** How many open sentences each language's words tell, and how many finished ones they take for open. */
const OPEN_BY_LANGUAGE = {
  en: { open: 5, closed: 0 },
  de: { open: 9, closed: 0 },
  fr: { open: 6, closed: 0 },
  es: { open: 4, closed: 0 },
  nl: { open: 8, closed: 2 },
};

test("in each language the words detect more open sentences than they take finished ones for open", () => {
  const found = Object.entries(HELD_OUT).map(([language, { open, closed }]) => {
    const countOf = (phrases: readonly string[]) =>
      phrases.filter((text) => waits(text, language)).length;
    return [language, { open: countOf(open), closed: countOf(closed) }] as const;
  });
  assert.deepEqual(Object.fromEntries(found), OPEN_BY_LANGUAGE);
});

test("of 100 callers who think aloud the words detect 32, and STT that writes punctuation 97", () => {
  assert.equal(count("open", waits), 32);
  assert.equal(count("open", waitsBehindMarks), 97);
});

test("of 100 who dictate in pieces most get more time, in every language", () => {
  assert.equal(count("dictated", waits), 41);
  assert.equal(count("dictatedLater", waits), 40);
});

test("of 100 who are done nearly none gets more time", () => {
  assert.equal(count("closed", waits), 2);
  assert.equal(
    count("closed", (text, language) => waitsBehindMarks(marked(text), language)),
    2,
  );
});

test("of 100 backchannels that are on no list few let the agent speak on, and of 100 interruptions none", () => {
  assert.equal(count("backchannels", isBackchannelPhrase), 22);
  assert.equal(count("interruptions", isBackchannelPhrase), 0);
});
