import assert from "node:assert/strict";
import { test } from "node:test";
import { rigGaps } from "../../../bench/phone/rig-gaps.js";
import { Journal } from "../../../engine/sandbox/journal.js";
import { SentPace } from "../../../engine/sandbox/sound/sent-pace.js";

const CHUNK_MS = 100;
const CHUNKS = 20;
const said = (number: number) => `Sentence ${number}.`;

/** Sentences one after the other of a voice at 1.5 times real time; the third chunk of some leaves too late. */
function journalOf(lateMs: readonly number[]): Journal {
  const journal = new Journal(true);
  for (const [index, late] of lateMs.entries()) {
    const request = journal.nextRequest();
    const pace = new SentPace();
    journal.record("elevenlabs", "request", request, said(index));
    journal.record("elevenlabs", "firstByte", request);
    for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
      const dueMs = (chunk * CHUNK_MS) / 1.5;
      pace.chunk(CHUNK_MS, dueMs, dueMs + (chunk === 2 ? late : 0));
    }
    journal.record("elevenlabs", "lastByte", request, pace.text);
  }
  return journal;
}

function gapsOf(lateMs: readonly number[]) {
  const phrases = lateMs.map((_, index) => ({
    text: "",
    firstSentence: said(index),
    lastWord: "",
    audio: Buffer.alloc(0),
  }));
  return rigGaps(journalOf(lateMs).entries, "elevenlabs", phrases);
}

test("a voice that sends everything in time has no gaps, sent or planned", () => {
  const { sent, planned, lateMs } = gapsOf([0, 0, 0]);
  assert.deepEqual([sent, planned], [0, 0]);
  assert.deepEqual(lateMs, [0, 0, 0]);
});

test("a chunk that leaves later than what there is to play is a gap of the rig, and not of the plan", () => {
  const { sent, planned, lateMs } = gapsOf([0, 0, 0, 200, 0]);
  assert.deepEqual([sent, planned], [1, 0]);
  assert.equal(Math.round(lateMs[3] ?? 0), 167, "33 ms were to be left after the first chunk");
});

test("what the telephone hides is no gap, and a sentence that was broken off counts nowhere", () => {
  assert.equal(gapsOf([0, 80]).sent, 0);
  const journal = new Journal(true);
  journal.record("elevenlabs", "request", 1, said(0));
  journal.record("elevenlabs", "firstByte", 1);
  journal.record("elevenlabs", "aborted", 1);
  assert.deepEqual(rigGaps(journal.entries, "elevenlabs", []), {
    sent: 0,
    planned: 0,
    lateMs: [],
  });
});
