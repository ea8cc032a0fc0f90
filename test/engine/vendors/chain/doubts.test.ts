import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { SttStalls } from "../../../../engine/vendors/chain/stt-chain.js";

let doubts: SttStalls<string>;
const doubted = { link: "first", heardMs: 3_000, sinceMs: 50 };

beforeEach(() => {
  doubts = new SttStalls();
});

test("one recognizer is doubted at a time", () => {
  assert.equal(doubts.suspect(doubted, "doubtful"), true);
  assert.equal(doubts.suspect({ ...doubted, link: "second" }, "deaf"), false);
  assert.equal(doubts.isOpen(doubted), true);
  assert.equal(doubts.isOpen({ ...doubted }), false);
});

test("a suspicion is right if another STT returns words for the same audio, and then there may be another", () => {
  for (const lastWordEndMs of [2_999, 3_000]) {
    assert.equal(doubts.suspect(doubted, "doubtful"), true);
    assert.equal(doubts.settle("second", lastWordEndMs), doubted);
    assert.equal(doubts.isOpen(doubted), false);
  }
});

test("a suspicion was wrong if its own words, for later audio or without a time, arrive: then there is no other", () => {
  for (const [link, lastWordEndMs] of [
    ["first", 2_000],
    ["second", 3_001],
    ["second", undefined],
  ] as const) {
    doubts = new SttStalls();
    doubts.suspect(doubted, "doubtful");
    assert.equal(doubts.settle(link, lastWordEndMs), undefined);
    assert.equal(doubts.isOpen(doubted), false);
    assert.equal(doubts.suspect(doubted, "doubtful"), false);
    assert.equal(doubts.suspect(doubted, "deaf"), true, "but for one that seems deaf");
  }
});

test("a suspicion ends if no other STT could be opened, and only one that seems dead counts from zero", () => {
  doubts.suspect(doubted, "doubtful");
  doubts.dismiss({ ...doubted });
  assert.equal(doubts.isOpen(doubted), true);
  doubts.dismiss(doubted);
  assert.equal(doubts.suspect(doubted, "doubtful"), false);
  assert.equal(doubts.suspect(doubted, "deaf"), true);
});

test("words without a suspicion settle nothing", () => {
  assert.equal(doubts.settle("second", 100), undefined);
  assert.equal(doubts.suspect(doubted, "doubtful"), true);
});
