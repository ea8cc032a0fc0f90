import assert from "node:assert/strict";
import { test } from "node:test";
import { boundaryAt, NOT_A_BOUNDARY, UNDECIDED } from "../../../engine/conversation/sentences.js";

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
const CASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
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

for (const [title, cases] of Object.entries(CASES)) {
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
