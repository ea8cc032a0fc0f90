import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallEvent } from "../../../engine/calls/call-events.js";
import { TopicSubscribers, type Watch } from "../../../engine/calls/topic-subscribers.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const NEWS_WAITING_MAX = 100;
const TURN_EVERY_MS = 10;
const WATCHERS_PER_TURN = 4;
const TOGETHER_MS = 250;
const WATCHERS_PER_ORGANIZATION_MAX = 100;
interface Page extends Watch {
  /** Its notifications, as often as they came. */
  readonly told: (readonly CallEvent[])[];
}

function words(text: string): CallEvent {
  return { type: "words", callId: "a", role: "assistant", text, isFinal: false };
}

function textsOf({ told }: Page): readonly string[] {
  return told.flat().map((news) => (news.type === "words" ? news.text : news.type));
}

function watched(togetherMs: number, count: number) {
  const clock = new VirtualClock();
  const watchers = new TopicSubscribers(clock, togetherMs);
  const pages = Array.from({ length: count }, (): Page => {
    const told: (readonly CallEvent[])[] = [];
    return { told, watcher: { news: (news) => told.push(news), pulse: () => {} }, end: () => {} };
  });
  for (const page of pages) watchers.add(page);
  return { clock, watchers, pages };
}

const toldCount = (pages: readonly Page[]) => pages.filter(({ told }) => told.length > 0).length;

test("a few watchers are notified in each turn of the event loop, all with the same array", () => {
  const { clock, watchers, pages } = watched(TOGETHER_MS, 50);
  watchers.publish(words("one"));
  watchers.publish(words("one two"));
  clock.advance(TOGETHER_MS - 1);
  assert.equal(toldCount(pages), 0);
  clock.advance(1);
  for (let turn = 1; toldCount(pages) < pages.length; turn += 1) {
    assert.equal(toldCount(pages), Math.min(turn * WATCHERS_PER_TURN, pages.length));
    clock.advance(TURN_EVERY_MS);
  }
  const [first] = pages[0]?.told ?? [];
  assert.deepEqual(first, [words("one"), words("one two")]);
  assert.ok(pages.every(({ told }) => told.length === 1 && told[0] === first));
  assert.equal(clock.pendingTimerCount, 0);
});

test("the maximum number of an organization's watchers is notified before their next round", () => {
  const { clock, watchers, pages } = watched(TOGETHER_MS, WATCHERS_PER_ORGANIZATION_MAX);
  for (let round = 1; round <= 5; round += 1) {
    watchers.publish(words(`${round}`));
    clock.advance(TOGETHER_MS);
  }
  assert.deepEqual(textsOf(pages[0] ?? assert.fail()), ["1", "2", "3", "4", "5"]);
  assert.deepEqual(textsOf(pages.at(-1) ?? assert.fail()), ["1", "2", "3", "4"]);
});

test("events during a round go into the next, to all watchers in the same order", () => {
  const { clock, watchers, pages } = watched(0, 3 * WATCHERS_PER_TURN);
  watchers.publish(words("one"));
  assert.equal(toldCount(pages), WATCHERS_PER_TURN, "the first of them at once");
  watchers.publish(words("two"));
  clock.advance(TURN_EVERY_MS);
  watchers.publish(words("three"));
  clock.advance(10 * TURN_EVERY_MS);
  for (const page of pages) {
    assert.deepEqual(textsOf(page), ["one", "two", "three"]);
    assert.equal(page.told.length, 2);
  }
  assert.equal(clock.pendingTimerCount, 0);
});

test("a watcher that leaves during a round is not notified any more, and all others are", () => {
  const { clock, watchers, pages } = watched(0, 3 * WATCHERS_PER_TURN);
  watchers.publish(words("one"));
  const [first, last] = [pages[0] ?? assert.fail(), pages.at(-1) ?? assert.fail()];
  assert.deepEqual([watchers.remove(first), watchers.remove(last)], [true, true]);
  assert.equal(watchers.remove(last), false);
  watchers.publish(words("two"));
  clock.advance(10 * TURN_EVERY_MS);
  assert.deepEqual([textsOf(first), textsOf(last)], [["one"], []]);
  for (const page of pages.slice(1, -1)) assert.deepEqual(textsOf(page), ["one", "two"]);
});

test("a burst of events is sent early, and few of them wait", () => {
  const { clock, watchers, pages } = watched(TOGETHER_MS, 2 * WATCHERS_PER_TURN);
  const texts = Array.from({ length: 2.5 * NEWS_WAITING_MAX }, (_, index) => String(index));
  for (const text of texts) watchers.publish(words(text));
  assert.equal(textsOf(pages[0] ?? assert.fail()).length, 2 * NEWS_WAITING_MAX);
  assert.equal(textsOf(pages.at(-1) ?? assert.fail()).length, NEWS_WAITING_MAX);
  clock.advance(2 * TOGETHER_MS);
  for (const page of pages) assert.deepEqual(textsOf(page), texts);
});

test("after the last watcher has left nothing is pending", () => {
  const { clock, watchers, pages } = watched(TOGETHER_MS, 2 * WATCHERS_PER_TURN);
  watchers.publish(words("one"));
  clock.advance(TOGETHER_MS);
  watchers.publish(words("two"));
  for (const page of pages) watchers.remove(page);
  assert.equal(clock.pendingTimerCount, 0);
  assert.deepEqual(textsOf(pages.at(-1) ?? assert.fail()), []);
});

test("the remaining watchers are notified after one has left, and nothing is pending after the last", () => {
  const { clock, watchers, pages } = watched(TOGETHER_MS, 2);
  const [stays, goes] = pages;
  assert.ok(stays && goes);
  watchers.publish(words("one"));
  assert.equal(watchers.remove(goes), true);
  assert.equal(watchers.remove(goes), false);
  assert.equal(watchers.isEmpty, false);
  clock.advance(TOGETHER_MS);
  assert.deepEqual([textsOf(stays), textsOf(goes)], [["one"], []]);
  watchers.publish(words("two"));
  watchers.remove(stays);
  assert.deepEqual([watchers.isEmpty, clock.pendingTimerCount], [true, 0]);
});
