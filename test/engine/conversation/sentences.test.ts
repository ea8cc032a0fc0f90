import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isSameWords, spokenWords, wordsOf } from "../../../engine/conversation/lexicon.js";
import { wholeWords } from "../../../engine/conversation/playback-ledger.js";
import {
  boundaryAt,
  EMPTY_SPLITTER,
  NOT_A_BOUNDARY,
  sentencesOf,
  speakable,
  splitEnd,
  splitReplyToken,
  splitStalled,
  splitToken,
  UNDECIDED,
} from "../../../engine/conversation/sentences.js";
import { wordCount } from "../../../engine/conversation/transcript-buffer.js";
import { pieces, split } from "./streamed-text.js";

/** The expected sentences are parted by a bar. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  "ends of sentences": [
    "It rained all day.|Nobody went out!|Did you go out?|I certainly did not.",
    "He asked: is it done?!|Nobody knew what to say.",
    "First line without a stop\n|Second line without a stop",
    "I am not sure…|Maybe we should ask him.",
  ],
  "quotes and brackets stay with the sentence that they close": [
    'She said "I will come."|Then she hung up the phone.',
    "We close at nine. |(Not on Sundays, of course.)|Call us before that.",
    "“Nobody answered the door.”|So we left again.",
    "**This is quite important.**|Please listen to me now.",
    "He left early (at last.) and nobody minded that.",
  ],
  "abbreviations do not end a sentence": [
    "Dr. Smith and Mrs. Jones will see you.",
    "Bring some fruit, e.g. apples, i.e. no pears vs. plums.",
    "Our St. James St. office is closed.",
    "The U.S. Army and the U.K. Government met at 5 p.m. Tuesday.",
    "See fig. 3 and no. 5 on p. 12 of the book.",
    "J. R. R. Tolkien wrote it.|We all read it.",
    "El Sr. García y la Sra. López llegan hoy.|Les espera el Dr. Ruiz en la Avda. Central.",
    "Vive en EE.UU. Quizá vuelva pronto.",
    "M. Dupont et Mme. Durand, c.-à-d. mes voisins, sont là.",
    "Das ist z. B. Herr Dr. Müller bzw. Frau Prof. Meier, d.h. alle beide.",
    "Am 3. Mai und am 12. Oktober ist zu.|Sonst nicht.",
  ],
  "some abbreviations end one when an opening word follows": [
    "We are open until 5 p.m.|The shop is closed on Sunday.",
    "He lives in the U.S.|She lives in France now.",
    "I sell pens, paper, etc.|What would you like to have?",
    "Vendemos lápices, papel, etc.|¿Qué desea usted hoy?",
    "Vendemos lápices, papel, etc.|¿Tiene usted algo más?",
    "He lives in the U.S. this year.",
    "It was in the U.S. A. Miller was there too.",
    "Is he a Dr?|Yes, he is one of them.",
    "Wir haben Stifte, Papier usw.|Was möchten Sie heute haben?",
    "No, I said no.|Then I went home again.",
    "Take vitamin C.|It helps against a cold.",
  ],
  "numbers, times, versions, addresses": [
    "Pi is 3.14 and not 3.15.|That is a fact.",
    "Cuesta 1.000,50 euros.|Es mucho dinero para eso.",
    "Version 1.2.3 came out at 10.30.|It works very well.",
    "It costs 30.|Would you like to have it?",
    "Go to https://example.com/a.b?c=d.e or www.example.org.|It is all there.",
    "Write to jane.doe@mail.example.com!|She answers at once.",
    "The file is called notes.txt and it is empty.",
  ],
  "numbers of a list stay with their items": [
    "Here is how it goes:\n|1. Wash the apples well.|2. Peel the apples.\n|3. Eat them all.",
    "Do this\n|- 1. Open the door wide\n|- 2. Close the door again",
  ],
  "a pause is not an end": [
    "Well... I think so.",
    "It is... let me see... about nine.",
    "That was all I know...|Goodbye to you all.",
  ],
  "Chinese and Japanese need no space": [
    "你好。|今天天气很好，我们去公园吧！|你想去吗？|我很高兴。",
    "はい。|今日はとても良い天気ですね。|どこへ行きましょうか？",
    "他说：“我明天一定来。”|然后他就挂了电话。",
  ],
  "Spanish opening marks": [
    "¡Hola!|¿Cómo está usted hoy?|Muy bien, gracias.",
    "Claro que sí!|¿Quiere usted algo más?|Con mucho gusto.",
  ],
  "short sentences go with the next one, but the first goes out at once": [
    "Hi.|How are you?",
    "Good morning to you.|Yes! Of course we can do that.",
    "That is true.|OK. So. Let us begin with it.|No.",
  ],
};

for (const [title, cases] of Object.entries(CASES)) {
  test(title, () => {
    for (const marked of cases) {
      const expected = marked.split("|").map((sentence) => sentence.trim());
      const text = /[。？]/.test(marked) ? marked.replaceAll("|", "") : spaced(marked);
      for (const size of [1, 3, 7, text.length])
        assert.deepEqual(split(pieces(text, size)), expected, text);
    }
  });
}

/** A bar is a space if there is none already, and where Spanish has none, nothing. */
function spaced(marked: string): string {
  return marked.replace(/\|/g, (_bar, at: number) => {
    const before = marked.charAt(at - 1);
    return before === "\n" || before === " " || marked.startsWith("!|¿", at - 1) ? "" : " ";
  });
}

test("a boundary waits for the character after it", () => {
  const stop = splitToken(EMPTY_SPLITTER, "That will be 3.");
  assert.deepEqual(stop.sentences, []);
  assert.deepEqual(splitToken(stop.state, "14 euros").sentences, []);
  assert.deepEqual(splitToken(stop.state, " Is it").sentences, ["That will be 3."]);
});

test("a state may be used twice", () => {
  const { state } = splitToken(EMPTY_SPLITTER, "One moment");
  assert.deepEqual(splitToken(state, ". Now").sentences, ["One moment."]);
  assert.deepEqual(splitToken(state, "! Now").sentences, ["One moment!"]);
});

test("white space before a sentence is not kept, however much of it comes", () => {
  let state = EMPTY_SPLITTER;
  for (let count = 0; count < 100; count += 1) ({ state } = splitToken(state, " \n\t"));
  assert.equal(state.pending, "");
});

/** The sentences that are known before the token that stands in brackets has come. */
function given(...tokens: readonly string[]): readonly string[] {
  let state = EMPTY_SPLITTER;
  const sentences: string[] = [];
  for (const token of tokens) {
    const step = splitReplyToken(state, token);
    sentences.push(...step.sentences);
    state = step.state;
  }
  return sentences;
}

test("a first sentence goes with its last token when its mark can be nothing else", () => {
  for (const tokens of [
    ["I", " can", " help", "."],
    ["Can", " I", " help", "?"],
    ["Sure", "!"],
    ["¡Hola", "!"],
    ["你好", "。"],
    ["Das", " geht", " leider", " nicht", "."],
    ["It ends in one token."],
    ["That is a self-made", " cake", "."],
    ["Selbst", "verständlich", "."],
    ["I", " can", "'t", "."],
    ["We", " don’t", "."],
    ["هل", " أنت", " هنا", "؟"],
    ["यह", " ठीक", " है", "।"],
    ["Այո", "։"],
  ]) {
    assert.deepEqual(given(...tokens), [tokens.join("")]);
  }
});

test("after a number, an abbreviation, an initial, an address or dots the next token decides", () => {
  for (const tokens of [
    ["It", " costs", " 3", "."],
    ["Ask", " Dr", "."],
    ["It", " is", " in", " the", " U", "."],
    ["It is open until 5 p.m", "."],
    ["See", " no", "."],
    ["Go", " to", " www.example", "."],
    ["Write to jane@example", "."],
    ["Well", "..."],
    ["Well…"],
    ["He", " said", ' "go', '."'],
    ["The file is notes.txt", "."],
    ["..."],
    ["?!"],
    ["One line\n"],
  ]) {
    assert.deepEqual(
      given(...tokens).filter((sentence) => sentence.endsWith(".")),
      [],
      tokens.join("|"),
    );
  }
});

test("what comes after it is the second sentence, whatever it begins with", () => {
  assert.deepEqual(given("Sure", "!", " I", " am", " here", " for", " you", ".", " And"), [
    "Sure!",
    "I am here for you.",
  ]);
});

test("later sentences wait for the character after them, since no caller waits for them", () => {
  assert.deepEqual(given("Sure", "!", " I am here for you", "."), ["Sure!"]);
});

test("a first sentence that went at once counts for how long the next piece may be", () => {
  const first = `${"s".repeat(39)}.`;
  const clause = `${"c".repeat(24)},`;
  const next = (letters: number) => given(first, ` ${clause} ${"w".repeat(letters)}.`, " And");
  // 1.3 times as long as the text before its mark.
  assert.deepEqual(next(24), [first, `${clause} ${"w".repeat(24)}.`]);
  assert.deepEqual(next(25), [first, clause, `${"w".repeat(25)}.`]);
  assert.deepEqual(given("Yes.", '"', " I am here", " now. And"), ["Yes.", '" I am here now.']);
});

/** The sentence that ends with the mark before the bar; or that it goes on there, or that more of the text is needed. */
function judged(marked: string): string {
  const at = marked.indexOf("|") - 1;
  const text = marked.replace("|", "");
  const end = boundaryAt(text, 0, at);
  if (end === NOT_A_BOUNDARY) return "goes on";
  return end === UNDECIDED ? "undecided" : text.slice(0, end);
}

const ENDS = "";

/** What is to come of each place: `ENDS` for the text up to the space or the bar behind the mark. */
const BOUNDARIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "marks that follow one another belong together, and the character after them decides": {
    "One\n|two": "One\n",
    "One.|\ntwo": "One.",
    'One?|!") Two': 'One?!")',
    "One?|": "undecided",
    'One.|"': "undecided",
    "One.|two": "goes on",
    "One!|two": "goes on",
    "One!|¿Two?": "One!",
    "One.|☀": "One.",
    "好。|a": "好。",
    "One.|。two": "One.。",
    "Done.|)好": "Done.)",
    [`One!|${"!".repeat(39)} Two`]: `One${"!".repeat(40)}`,
    [`One!|${"!".repeat(40)} Two`]: "goes on",
    [`One!|${"!".repeat(39)}`]: "undecided",
    [`One!|${"!".repeat(40)}`]: "goes on",
  },
  "dots end a sentence where a capital follows that is no `I` and no initial": {
    "Well.|. We go": "Well..",
    "Well.|. we go": "goes on",
    "Well.|. I think so": "goes on",
    "Well..| I think so": "goes on",
    "Well..| We go": "Well..",
    "Well…| I'm here": "goes on",
    "Well…| I’m here": "goes on",
    "Well…| It is": "Well…",
    "Well…| It": "undecided",
    "Well…|": "undecided",
    "Well…| 7 of them": "goes on",
    "Well…| A. Miller": "goes on",
    "Well…| A man": "Well…",
    "Well…| So.": "Well…",
    "Well…|好": "goes on",
  },
  "a full stop in quotes or brackets ends one unless a small letter follows": {
    "(Done.|) and so": "goes on",
    "(Done.|) And so": "(Done.)",
    "(Done.|) An": "undecided",
    "(Done.|) 7 of": "(Done.)",
    "(Ask Dr.|) Who is": "(Ask Dr.)",
  },
  "a number with a stop is a list's, or a German day, or the end": {
    "1.| Wash it": "goes on",
    "123.| Wash it": "goes on",
    "1234.| Wash it": ENDS,
    "Do this\n- 2.| Wash it": "goes on",
    "*3.| Wash it": "goes on",
    "It costs 30.| Would you": ENDS,
    "It costs 30.| Woul": "undecided",
    "Am 3.| mai ist zu": "goes on",
    "Am 31.| Dezember ist zu": "goes on",
    "Am 300.| Mai": ENDS,
    "It is 12:30.| Mai": ENDS,
  },
  "an abbreviation goes on, or does before a number, or unless a word follows that opens sentences":
    {
      "Ask Dr.| Who is": "goes on",
      "Ask Dr.|\nWho is": "goes on",
      "Ask (Dr.| Who is": "goes on",
      "I said —no.| Then": ENDS,
      "c.-à-d.| Le train": "goes on",
      "See no.| 0 is": "goes on",
      "See no.| 9 is": "goes on",
      "See no.| / is": ENDS,
      "See no.| : is": ENDS,
      "I said no.| Then": ENDS,
      "I said no.|  ": "undecided",
      "until 5 p.m.| The shop": ENDS,
      'until 5 p.m.| "The shop': ENDS,
      "until 5 p.m.| It’s so": ENDS,
      "until 5 p.m.| So. Now": ENDS,
      "until 5 p.m.| I was": ENDS,
      "until 5 p.m.| Th": "undecided",
      "until 5 p.m.| Tuesday is": "goes on",
      "until 5 p.m.| the shop": "goes on",
      "until 5 p.m.| 好的，": ENDS,
      "until 5 p.m.| 好的": "undecided",
      "the U.S.| I. Miller": "goes on",
      "vitamin C.| It helps": ENDS,
      "J.| Miller is": "goes on",
      "A.B.| The man": ENDS,
      "A.B.C.D.E.F.G.H.I.J.K.| Miller is": "goes on",
      "It is over .| Miller": "It is over .",
      "It is over.| Miller": ENDS,
    },
  "no more than forty characters are read for the next word, and of that sixteen": {
    [`I said no.|${" ".repeat(39)}5`]: "goes on",
    [`I said no.|${" ".repeat(39)}Then`]: ENDS,
    [`I said no.|${" ".repeat(40)}Then`]: "goes on",
    [`until 5 p.m.| ${"A".repeat(16)}`]: "undecided",
    [`until 5 p.m.| ${"A".repeat(17)}`]: "goes on",
  },
};

for (const [title, cases] of Object.entries(BOUNDARIES)) {
  test(title, () => {
    for (const [marked, expected] of Object.entries(cases)) {
      const upToBar = marked.slice(0, marked.indexOf("|"));
      assert.equal(judged(marked), expected === ENDS ? upToBar : expected, marked);
    }
  });
}

test("the word before a stop begins with its sentence", () => {
  assert.equal(boundaryAt("xDr. Who is it", 0, 3), 4);
  assert.equal(boundaryAt("xDr. Who is it", 1, 3), NOT_A_BOUNDARY);
});

test("a danda and an Urdu full stop end a sentence, with or without a space after them", () => {
  for (const [one, two] of [
    ["आपकी मेज़ शुक्रवार के लिए बुक है।", "क्या मैं और कुछ कर सकता हूँ?"],
    ["धर्मक्षेत्रे कुरुक्षेत्रे समवेता॥", "मामकाः पाण्डवाश्चैव किमकुर्वत।"],
    ["آپ کی میز جمعہ کے لیے بک ہے۔", "کیا میں اور کچھ کر سکتا ہوں؟"],
    ["আপনার টেবিল শুক্রবারের জন্য বুক করা আছে।", "আর কিছু লাগবে কি আপনার?"],
    ["ጠረጴዛዎ ለዓርብ ተይዟል።", "ሌላ ነገር ልርዳዎት እችላለሁ?"],
  ] as const) {
    for (const between of ["", " "]) {
      assert.deepEqual(sentencesOf(`${one}${between}${two}`), [one, two]);
    }
  }
});

/** As a model gives it, one code unit after the other. */
function inTokens(text: string): readonly string[] {
  let state = EMPTY_SPLITTER;
  const sentences: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const step = splitToken(state, text.charAt(at));
    state = step.state;
    sentences.push(...step.sentences);
  }
  return [...sentences, splitEnd(state) ?? ""];
}

test("an LLM that stalls after a mark outside of the basic plane has said a whole sentence", () => {
  const text = "𑄃𑄟𑄬 𑄇𑄧𑄟𑄴𑅁";
  const step = splitReplyToken(EMPTY_SPLITTER, text);
  assert.deepEqual(step.sentences, [text]);
  const begun = splitToken({ ...EMPTY_SPLITTER, hasStarted: true }, text);
  assert.deepEqual(splitStalled(begun.state, 5_000)?.sentences, [text]);
});

test("so does every unambiguous terminal of Unicode, in any token", () => {
  const others = new Set([
    ".",
    "!",
    "?",
    "\u2024",
    "\ufe52",
    "\uff0e",
    "\u203c",
    "\u2047",
    "\u2048",
    "\u2049",
  ]);
  let count = 0;
  for (let code = 0x80; code <= 0x1ffff; code += 1) {
    const mark = String.fromCodePoint(code);
    if (!/\p{Sentence_Terminal}/u.test(mark) || others.has(mark)) continue;
    const one = `one word after the other${mark}`;
    assert.deepEqual(
      sentencesOf(`${one}another of them`),
      [one, "another of them"],
      code.toString(16),
    );
    const next = "another of them";
    assert.deepEqual(sentencesOf(one + mark + next), [one + mark, next]);
    assert.deepEqual(inTokens(one + next), [one, next], code.toString(16));
    count += 1;
  }
  assert.ok(count > 150, String(count));
});

test("within a number, before a list's item, or in front of its quote the mark ends nothing yet", () => {
  assert.deepEqual(sentencesOf("قیمت ۳۔۵ ہے"), ["قیمت ۳۔۵ ہے"]);
  assert.deepEqual(sentencesOf("۱۔ پہلا کام یہ ہے"), ["۱۔ پہلا کام یہ ہے"]);
  assert.deepEqual(sentencesOf("उसने कहा «मैं आऊँगा।» फिर वह चला गया"), [
    "उसने कहा «मैं आऊँगा।»",
    "फिर वह चला गया",
  ]);
  assert.deepEqual(sentencesOf("क्या सच में।।। हाँ बिलकुल सच है"), ["क्या सच में।।।", "हाँ बिलकुल सच है"]);
});

const SPOKEN: readonly (readonly [written: string, spoken: string])[] = [
  ["Hello there, how are you?", "Hello there, how are you?"],
  ["  two   spaces ", "two spaces"],
  ["**Bold** and *italic* and __both__ and _one_.", "Bold and italic and both and one."],
  ["~~gone~~ `code` and ``more code``", "gone code and more code"],
  ["# Title\nText below it.", "Title, Text below it."],
  ["### Deep title", "Deep title"],
  ["- apples\n- pears\n* plums", "apples, pears, plums"],
  ["• one\n• two", "one, two"],
  ["- [x] done\n- [ ] open", "done, open"],
  ["1. Wash it.\n2. Eat it.", "1. Wash it. 2. Eat it."],
  ["> quoted words", "quoted words"],
  ["Look at [the menu](https://example.com/menu?a=b).", "Look at the menu."],
  ["![A cat](cat.png) sleeps", "A cat sleeps"],
  ['A [link](https://example.com "with a title") here', "A link here"],
  ["This](https://example.com) was cut", "This was cut"],
  ["See https://www.example.com/path/to?x=1.", "See example.com."],
  ["See <https://example.org>!", "See example.org!"],
  ["Write to jane_doe@example.com", "Write to jane_doe@example.com"],
  ["As noted[1] and noted[^2].", "As noted and noted."],
  ["```js\nconst a = 1;\n```", "const a = 1;"],
  ["First\n---\nSecond", "First, Second"],
  ["| Day | Time |\n|-----|------|\n| Monday | nine |", "Day, Time, Monday, nine"],
  ["Great job! 😀👍🏽", "Great job!"],
  ["👩‍👩‍👧‍👦 family 🇪🇸", "family"],
  ["<b>Bold</b> and<br>break", "Bold and break"],
  ["Fish &amp; chips &lt;3", "Fish & chips <3"],
  ["2 * 3 is 6", "2 × 3 is 6"],
  ["C# and F# but #1 and #news", "C# and F# but 1 and news"],
  ["snake_case_name stays", "snake_case_name stays"],
  ["5 < 6 and 7 > 6", "5 < 6 and 7 > 6"],
  ["well-known - really", "well-known - really"],
  ["A \\*star\\*", "A star"],
  ["你好\n世界", "你好，世界"],
  ["¿Cómo está? ¡Bien!", "¿Cómo está? ¡Bien!"],
  ["That costs $5, or 4 €, plus 10%.", "That costs $5, or 4 €, plus 10%."],
];

test("markup is not spoken, its words are", () => {
  for (const [written, spoken] of SPOKEN) assert.equal(speakable(written), spoken, written);
});

test("a text without words gives nothing to speak", () => {
  for (const text of [
    "",
    "   ",
    "***",
    "---",
    "```",
    "```python",
    "😀",
    "|---|---|",
    "...",
    "[](http://a.b)",
    "- ",
    "#",
  ]) {
    assert.equal(speakable(text), "", text);
  }
});

test("what is spoken needs no second cleaning, has no marks at its ends and no line breaks", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.constantFrom("word", "*", "_", "#", "`", "[a](b)", "\n", " ", "- ", "| ", "😀", "1"),
          fc.string({ maxLength: 5 }),
        ),
      ),
      (parts) => {
        const spoken = speakable(parts.join(""));
        assert.equal(spoken, spoken.trim());
        assert.doesNotMatch(spoken, /[*`\n\p{Extended_Pictographic}]/u);
        if (spoken !== "") assert.match(spoken, /[\p{L}\p{N}]/u);
      },
    ),
  );
});

test("hostile markup takes no more than linear time", () => {
  for (const mark of [
    "[",
    "](",
    "<a ",
    "_",
    "*",
    "https://",
    "| ",
    "`",
    "> ",
    "#",
    "- ",
    "\n",
    "&",
  ]) {
    const text = mark.repeat(40_000 / mark.length);
    const begin = process.cpuUsage();
    speakable(text);
    const usedMs = process.cpuUsage(begin).user / 1e3;
    assert.ok(usedMs < 1_500, `${JSON.stringify(mark)} took ${usedMs} ms of a processor`);
  }
});

test("a text without markup is spoken as it is, with its commas", () => {
  assert.equal(speakable("Well, let me see,"), "Well, let me see,");
});

const SENTENCE_WEIGHT_MAX = 300;

const THAI = [
  "สวัสดีค่ะ ยินดีให้บริการค่ะ",
  "ห้องพักของเรามีวิวทะเลสาบที่สวยงามมาก ราคาคืนละสองพันบาทรวมอาหารเช้าแล้ว",
  "คุณสามารถเช็คอินได้ตั้งแต่บ่ายสองโมงเป็นต้นไป และเช็คเอาท์ก่อนเที่ยง",
  "หากต้องการเปลี่ยนแปลงการจองกรุณาแจ้งล่วงหน้าอย่างน้อยหนึ่งวัน ขอบคุณค่ะ",
].join(" ");

test("a long reply in Thai comes in pieces that end where a speaker pauses", () => {
  const sentences = split(pieces(THAI, 5));
  assert.ok(sentences.length >= 3, sentences.join("|"));
  assert.ok((sentences[0]?.length ?? 0) <= 100);
  assert.equal(sentences.join(" "), THAI);
});

test("Thai without a single space is cut between words", () => {
  const text = THAI.replaceAll(" ", "");
  const sentences = split(pieces(text.repeat(2), 7));
  assert.ok(sentences.length >= 4);
  assert.equal(sentences.join(""), text.repeat(2));
  const words = new Set(
    Array.from(new Intl.Segmenter("th", { granularity: "word" }).segment(text), (at) => at.segment),
  );
  const torn = sentences.slice(0, -1).filter((sentence) => {
    const last = Array.from(new Intl.Segmenter("th", { granularity: "word" }).segment(sentence)).at(
      -1,
    );
    return last === undefined || !words.has(last.segment);
  });
  assert.deepEqual(torn, []);
});

test("Burmese, Khmer, Armenian and Amharic sentences end with their own marks", () => {
  for (const [first, second] of [
    ["မင်္ဂလာပါ ခင်ဗျာ။", "ဘာကူညီရမလဲ။"],
    ["សួស្តី​អ្នក​ទាំងអស់គ្នា។", "តើខ្ញុំអាចជួយអ្វីបាន។"],
    ["Բարև ձեզ բոլորիդ։", "Ինչով կարող եմ օգնել։"],
    ["ሰላም እንደምን አለህ።", "ምን ልርዳህ እችላለሁ።"],
  ] as const) {
    assert.deepEqual(split(pieces(`${first} ${second}`, 3)), [first, second]);
  }
});

test("no script makes a piece longer than the limit", () => {
  for (const text of ["ก".repeat(2_000), "ကခဂ".repeat(700), "កខគ ".repeat(500)]) {
    for (const sentence of split(pieces(text, 11))) {
      assert.ok(sentence.length <= SENTENCE_WEIGHT_MAX);
    }
  }
});

/** The whole words of that share of a text. */
function heardPart(text: string, fraction: number): string {
  return wholeWords(text, text.length * fraction);
}

test("heard text ends with a whole word", () => {
  const text = "One two three four.";
  const cases: readonly (readonly [fraction: number, heard: string])[] = [
    [0, ""],
    [-1, ""],
    [Number.NaN, ""],
    [0.1, ""],
    [0.16, "One"],
    [0.36, "One"],
    [0.37, "One two"],
    [0.99, "One two three"],
    [1, text],
    [7, text],
  ];
  for (const [fraction, heard] of cases)
    assert.equal(heardPart(text, fraction), heard, `${fraction}`);
});

test("a word of one letter is one, and a border between words belongs to neither", () => {
  assert.equal(wholeWords("I am", 1), "I");
  assert.equal(wholeWords("I am", 1.9), "I");
  assert.equal(wholeWords("I am", 2), "I");
  assert.equal(wholeWords("I am", 3), "I");
  assert.equal(wholeWords("I am", 4), "I am");
  assert.equal(wholeWords("I am ", 4), "I am");
});

test("where letters meet characters that stand for themselves a word is over, and none of those is torn", () => {
  assert.equal(wholeWords("OK好的", 2), "OK");
  assert.equal(wholeWords("OK好的", 1), "");
  assert.equal(wholeWords("好ok", 1), "好");
  assert.equal(wholeWords("กำ", 1), "");
});

test("in Chinese and Japanese every character counts", () => {
  assert.equal(heardPart("今天天气很好", 0.5), "今天天");
  assert.equal(heardPart("はい、わかりました", 0.34), "はい、");
});

test("a fraction never gives more than its share, never tears a word, and grows with the fraction", () => {
  const text = fc.array(fc.constantFrom("word", "a", "Zürich", "好的", "👍🏽", " ", ", ", "\n"), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(
      text,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (parts, one, other) => {
        const whole = parts.join("");
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        const heard = heardPart(whole, less);
        assert.ok(whole.startsWith(heard));
        assert.ok(less >= 1 || heard.length <= Math.floor(whole.length * less));
        assert.ok(heardPart(whole, more).startsWith(heard));
        const deps = whole.slice(heard.length - 1, heard.length + 1);
        assert.doesNotMatch(
          heard === "" ? "" : deps,
          /^[a-zü]{2}$|^[\uD800-\uDBFF][\uDC00-\uDFFF]$/i,
        );
      },
    ),
  );
});

test("words are counted as a person would count them", () => {
  const cases: readonly (readonly [text: string, words: number])[] = [
    ["", 0],
    ["...", 0],
    ["stop", 1],
    ["No, thanks!", 2],
    ["don't uh-huh", 2],
    ["¿Qué hora es?", 3],
    ["3.14 at jane@example.com", 3],
    ["привет как дела", 3],
    ["नमस्ते आप कैसे हैं", 4],
    ["안녕하세요 여러분", 2],
  ];
  for (const [text, words] of cases) assert.equal(wordCount(text), words, text);
});

test("in scripts without spaces a short word is one and a phrase is more", () => {
  assert.equal(wordCount("好"), 1);
  assert.equal(wordCount("你好"), 1);
  assert.equal(wordCount("等一下"), 2);
  assert.equal(wordCount("はい"), 1);
  assert.equal(wordCount("ちょっと待って"), 4);
  assert.equal(wordCount("ครับ"), 1);
  assert.equal(wordCount("我要 two 杯 coffee"), 4);
});

test("a word is compared without punctuation, capitals and apostrophes, and has its position", () => {
  assert.deepEqual(spokenWords("“Don’t,” he said: 42!"), [
    { word: "dont", end: 6 },
    { word: "he", end: 11 },
    { word: "said", end: 16 },
    { word: "42", end: 20 },
  ]);
  assert.deepEqual(wordsOf("你好 world"), ["你", "好", "world"]);
  assert.deepEqual(wordsOf("' ’ '' rock"), ["rock"]);
});

test("the same words in the same order are the same", () => {
  assert.ok(isSameWords("...", "..."));
  assert.ok(isSameWords("It's me.", "its, ME"));
  assert.ok(!isSameWords("it is me", "me it is"));
  assert.ok(!isSameWords("no", "no no"));
});
