import assert from "node:assert/strict";
import { test } from "node:test";
import { replyTo } from "../../../../engine/sandbox/language-model/simulated-language-model.js";
import { userSays } from "../chat-client.js";

test("a reply quotes what was just said", () => {
  const reply = replyTo(userSays("Hello.", "I would like a red bicycle."));

  assert.match(reply, /I would like a red bicycle/);
  assert.match(reply, /sandbox/);
});

test("a name is remembered over the conversation", () => {
  const messages = [
    ...userSays("Hi, my name is Zoë."),
    { role: "assistant", content: "Nice to meet you." },
    ...userSays("And what is my name?"),
  ];

  assert.match(replyTo(messages), /Zoë/);
  assert.match(replyTo(userSays("what's my name")), /not told/);
});

test("sums are worked out, in digits and in words", () => {
  const sums = new Map([
    ["what is two plus 3.5?", "5.5"],
    ["12 times 12", "144"],
    ["seven minus ten", "-3"],
    ["10 divided by 4 please", "2.5"],
  ]);
  for (const [said, result] of sums)
    assert.ok(replyTo(userSays(said)).includes(` is ${result}.`), said);
  assert.match(replyTo(userSays("1 divided by 0")), /You said/);
});

test("say and repeat after me are answered by exactly those words", () => {
  assert.equal(
    replyTo(userSays("Repeat after me: The quick, brown fox!")),
    "The quick, brown fox!",
  );
  assert.equal(replyTo(userSays("say yes")), "yes");
  assert.match(replyTo(userSays("saying things")), /You said/);
});

test("counting gives as many sentences, up to a limit", () => {
  assert.equal(replyTo(userSays("please count to 3")), "Number 1. Number 2. Number 3.");
  assert.equal(replyTo(userSays("count to 999999")).split(". ").length, 2000);
});

test("earlier words can be asked about", () => {
  assert.match(replyTo(userSays("the moon is full", "what did I say?")), /the moon is full/);
});

test("a human voice is answered honestly", () => {
  assert.match(replyTo(userSays("[speech, 1.8 s]")), /1\.8 seconds.*cannot understand/);
});

test("a request for a summary is answered in JSON, with the feeling of the caller's own lines", () => {
  const summaryOf = (transcript: string): { summary: string; sentiment: string } =>
    JSON.parse(
      replyTo([
        { role: "system", content: 'Answer with JSON: {"summary": "...", "sentiment": "..."}' },
        ...userSays(transcript),
      ]),
    );

  const happy = summaryOf("user: thank you, this is great\nassistant: I hate to say goodbye");
  assert.equal(happy.sentiment, "positive");
  assert.match(happy.summary, /thank you, this is great/);
  assert.equal(summaryOf("User: it is broken and awful").sentiment, "negative");
  assert.equal(summaryOf("caller: what time is it").sentiment, "neutral");
});
