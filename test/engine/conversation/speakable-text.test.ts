import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { speakable } from "../../../engine/conversation/sentences.js";

const CASES: readonly (readonly [written: string, spoken: string])[] = [
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
  for (const [written, spoken] of CASES) assert.equal(speakable(written), spoken, written);
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
