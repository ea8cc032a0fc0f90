import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY_SPLITTER, splitToken } from "../../../engine/conversation/sentences.js";
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

/** A bar is a space where none stands already, and where Spanish is written without, nothing. */
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
