import assert from "node:assert/strict";
import { test } from "node:test";
import { ConversationActor } from "../../../engine/conversation/actor.js";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";
import type { ConversationEffect } from "../../../engine/conversation/effects.js";
import type { ConversationEvent } from "../../../engine/conversation/events.js";
import { newConversation } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";

const MAILBOX_EVENTS_MAX = 1_024;

const OPENED: ConversationEvent = { type: "opened", resumed: true, atMs: 0 };
const HANG_UP: ConversationEvent = { type: "endRequested", ending: CALLER_LEFT, atMs: 1 };
const NOISE: ConversationEvent = { type: "speechStarted", atMs: 2 };

function actorWith(perform: (effect: ConversationEffect, actor: () => ConversationActor) => void) {
  const crashes: unknown[] = [];
  const performer = {
    perform: (effect: ConversationEffect) => perform(effect, () => actor),
    wakeAt: () => undefined,
  };
  const actor: ConversationActor = new ConversationActor(
    newConversation(PLAIN_SETTINGS, []),
    performer,
    (error) => crashes.push(error),
  );
  return { actor, crashes };
}

test("the new state is in place before its effects are performed", () => {
  const phases: string[] = [];
  const { actor } = actorWith((_effect, self) => phases.push(self().state.phase));
  actor.send(OPENED);
  assert.deepEqual([...new Set(phases)], ["live"]);
});

test("an event that an effect causes waits until the effects before it are done", () => {
  const performed: string[] = [];
  const { actor } = actorWith((effect, self) => {
    if (performed.length === 0) self().send(HANG_UP);
    performed.push(effect.type);
  });
  actor.send({ ...OPENED, resumed: false });
  assert.equal(actor.state.phase, "ended");
  assert.equal(performed.at(-1), "end");
  assert.deepEqual(performed.slice(0, 2), ["send", "synthesize"]);
});

test("an effect that throws ends this call once, and later events are dropped", () => {
  let performedCount = 0;
  const { actor, crashes } = actorWith(() => {
    performedCount += 1;
    throw new Error("broken");
  });
  actor.send(OPENED);
  actor.send(HANG_UP);
  assert.equal(performedCount, 1);
  assert.equal(crashes.length, 1);
  assert.match(String(crashes[0]), /broken/);
});

test("a mailbox that fills without end ends the call instead of the memory", () => {
  const { actor, crashes } = actorWith((_effect, self) => {
    for (let n = 0; n <= MAILBOX_EVENTS_MAX; n += 1) self().send(NOISE);
  });
  actor.send(OPENED);
  assert.equal(crashes.length, 1);
  assert.match(String(crashes[0]), /1024 events/);
});

test("as many events as fit are all taken", () => {
  let isFirst = true;
  const { actor, crashes } = actorWith((_effect, self) => {
    if (!isFirst) return;
    isFirst = false;
    for (let n = 0; n < MAILBOX_EVENTS_MAX; n += 1) self().send(NOISE);
  });
  actor.send(OPENED);
  actor.send(HANG_UP);
  assert.deepEqual(crashes, []);
  assert.equal(actor.state.phase, "ended");
});
