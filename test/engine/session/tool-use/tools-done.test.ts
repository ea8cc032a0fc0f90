import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../../doubles/recorded-call.js";

const MESSAGES_MAX = 40;

test("of a caller who never hears what tools did, what the newest turns did is kept", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [{ kind: "http", name: "book" }] });
  call.send({ type: "opened", resumed: true });
  const counts: number[] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    call.clock.advance(1_000);
    call.send({ type: "written", text: `question ${turn}` });
    const turnId = call.actor.state.turn?.id ?? 0;
    for (let round = 0; round < 4; round += 1) {
      const toolCalls = [{ id: "a", name: "book", argumentsJson: "{}" }];
      call.send({ type: "replyDone", turnId, tokens: 1, toolCalls });
      call.send({ type: "toolDone", turnId, callId: "a", content: `${turn}` });
    }
    counts.push(call.actor.state.toolsDone?.messages.length ?? 0);
  }
  assert.deepEqual(call.crashes, []);
  assert.deepEqual(counts.slice(0, 7), [0, 8, 17, 26, 35, 8, 17]);
  assert.ok(Math.max(...counts) <= MESSAGES_MAX);
  const asked = call.effects.findLast((effect) => effect.type === "askModel");
  const texts = asked?.history.map(({ content }) => content).join(" ") ?? "";
  assert.match(texts, /question 0 question 1/);
});
