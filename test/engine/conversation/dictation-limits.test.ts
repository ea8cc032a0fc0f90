import assert from "node:assert/strict";
import { test } from "node:test";
import { isDictating } from "../../../engine/conversation/endpointing.js";

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

test("of what was said and asked the last two hundred characters count", () => {
  const asked = (between: number) => `${NUMBER}${"x".repeat(between)}`;
  assert.ok(isDictating("five", asked(200 - "number?".length)));
  assert.ok(!isDictating("five", asked(200 - "umber?".length)));
  const said = (between: number) => `mail ${"x".repeat(between)} jane dot doe`;
  const others = "mail  jane dot doe".length;
  assert.ok(isDictating(said(200 - others), HELP));
  assert.ok(!isDictating(said(201 - others), HELP));
});
