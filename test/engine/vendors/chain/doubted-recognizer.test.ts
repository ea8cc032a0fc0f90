import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { SpeechStream } from "../../../../engine/vendors/contracts.js";
import { LOUD } from "../../../doubles/voiced-frames.js";
import { BYTES_PER_MS, ChainedEars, fault, PATIENCE_MS } from "./chained-ears.js";

const HEARD_MS = 2_000;

describe("an STT that returns nothing for a voice", () => {
  let ears: ChainedEars;
  let stream: SpeechStream;

  beforeEach(async () => {
    ears = new ChainedEars();
    stream = await ears.open();
    ears.write(stream, LOUD, HEARD_MS);
    ears.clock.advance(HEARD_MS);
  });

  const doubt = () => ears.first.newest.listener.onSttStall?.("doubtful");

  it("is left, and has failed, as soon as another one returns words for it", async () => {
    doubt();
    await ears.settled();
    assert.deepEqual([ears.first.newest.isClosed, ears.second.askedCount], [false, 1]);
    assert.deepEqual(ears.told, []);
    await ears.pass(1_000);
    assert.equal(ears.second.newest.writtenBytes, HEARD_MS * BYTES_PER_MS);
    ears.second.newest.says("", HEARD_MS);
    assert.equal(ears.first.newest.isClosed, false);
    ears.second.newest.says("yes", HEARD_MS);
    assert.equal(ears.first.newest.isClosed, true);
    assert.deepEqual(ears.told, [
      [
        "failed",
        "first",
        "timeout",
        "first: returned no words for speech",
        { ms: 1_000, tokens: 0 },
      ],
      ["answered", "second"],
    ]);
    assert.deepEqual(ears.listener.events, ["final"], "the caller has not lost anybody");
    ears.write(stream, LOUD, 100);
    assert.equal(ears.second.newest.writtenBytes, (HEARD_MS + 100) * BYTES_PER_MS);
  });

  it("was only slow if its words come first, and continues alone", async () => {
    doubt();
    await ears.settled();
    await ears.pass(1_000);
    ears.write(stream, LOUD, 100);
    assert.equal(ears.first.newest.writtenBytes, (HEARD_MS + 100) * BYTES_PER_MS);
    assert.equal(ears.second.newest.writtenBytes, (HEARD_MS + 100) * BYTES_PER_MS);
    ears.first.newest.says("yes", HEARD_MS);
    assert.deepEqual([ears.first.newest.isClosed, ears.second.newest.isClosed], [false, true]);
    ears.second.newest.says("yes", HEARD_MS);
    assert.equal(ears.listener.finalText, "yes");
    assert.deepEqual(ears.told, [["answered", "first"]]);
    doubt();
    await ears.settled();
    assert.equal(ears.second.askedCount, 1, "it is not doubted again");
    ears.first.newest.listener.onSttStall?.("deaf");
    await ears.settled();
    assert.equal(ears.second.askedCount, 2, "but for seeming deaf it is");
  });

  for (const ends of ["is lost", "fails"]) {
    it(`has the other one in its place when it ${ends} meanwhile`, async () => {
      doubt();
      await ears.settled();
      await ears.pass(1_000);
      const { listener } = ears.first.newest;
      if (ends === "is lost") listener.onLost(fault());
      else listener.onFailed(fault());
      await ears.settled();
      assert.deepEqual([ears.first.newest.isClosed, ears.second.askedCount], [true, 1]);
      ears.second.newest.says("yes", HEARD_MS);
      assert.equal(ears.listener.finalText, "yes");
      assert.deepEqual(ears.listener.failed, []);
      assert.equal(ears.clock.pendingTimerCount, 0);
    });
  }

  it("continues if the other one fails meanwhile", async () => {
    doubt();
    await ears.settled();
    await ears.pass(1_000);
    ears.second.newest.listener.onFailed(fault());
    assert.deepEqual([ears.first.newest.isClosed, ears.second.newest.isClosed], [false, true]);
    ears.first.newest.says("yes", HEARD_MS);
    assert.equal(ears.listener.finalText, "yes");
  });

  it("fails together with the other one, and then none is left", async () => {
    doubt();
    await ears.settled();
    ears.first.newest.listener.onFailed(fault("timeout"));
    await ears.settled();
    ears.second.newest.listener.onFailed(fault("timeout"));
    await ears.settled();
    assert.equal(ears.listener.failed.length, 1);
    assert.deepEqual([ears.first.askedCount, ears.second.askedCount], [1, 1]);
  });

  it("gets a second connection of its own if it seems dead and there is no other STT", async () => {
    ears.second.failures.push(fault("unauthorized"), fault("unauthorized"));
    doubt();
    await ears.settled();
    assert.equal(ears.first.askedCount, 1);
    ears.first.newest.listener.onSttStall?.("deaf");
    await ears.settled();
    assert.deepEqual([ears.first.askedCount, ears.first.ears[0]?.isClosed], [2, false]);
    ears.first.newest.says("yes", HEARD_MS);
    assert.equal(ears.listener.finalText, "yes");
    assert.equal(ears.first.ears[0]?.isClosed, true);
  });

  it("has not failed where the words are of what was said later", async () => {
    doubt();
    await ears.settled();
    ears.second.newest.says("yes", HEARD_MS + 1);
    assert.deepEqual(ears.told, [["answered", "second"]]);
  });

  it("continues if the other one does not connect in time or cannot be opened", async () => {
    ears.second.isStalled = true;
    doubt();
    doubt();
    await ears.pass(PATIENCE_MS - 1);
    assert.deepEqual(ears.told, []);
    await ears.pass(1);
    assert.deepEqual(ears.told, [
      [
        "failed",
        "second",
        "timeout",
        "second: not connected in time",
        { ms: PATIENCE_MS, tokens: 0 },
      ],
    ]);
    assert.equal(ears.second.askedCount, 1);
    assert.equal(ears.first.newest.isClosed, false);
    ears.first.newest.says("yes", 100);
    assert.equal(ears.listener.finalText, "yes");
    stream.close();
    assert.equal(ears.clock.pendingTimerCount, 0);
  });

  it("stays if it returns words before the other one is connected, and the other's results are dropped", async () => {
    ears.second.isStalled = true;
    doubt();
    ears.first.newest.says("", undefined);
    ears.first.newest.says("yes", 100);
    ears.second.answer();
    await ears.settled();
    assert.deepEqual([ears.first.newest.isClosed, ears.second.newest.isClosed], [false, true]);
    ears.second.newest.says("no", 100);
    assert.equal(ears.listener.finalText, "yes");
    assert.deepEqual(ears.told, [["answered", "first"]]);
  });

  it("is still suspected after an empty result", async () => {
    ears.second.isStalled = true;
    doubt();
    ears.first.newest.says("", undefined);
    ears.second.answer();
    await ears.settled();
    assert.deepEqual([ears.first.newest.isClosed, ears.second.newest.isClosed], [false, false]);
    ears.second.newest.says("yes", HEARD_MS);
    assert.equal(ears.first.newest.isClosed, true);
  });

  it("is not replaced by one requested before it was lost, nor suspected while it is lost", async () => {
    ears.second.isStalled = true;
    doubt();
    ears.first.newest.listener.onLost(fault());
    ears.second.answer();
    await ears.settled();
    assert.deepEqual([ears.first.newest.isClosed, ears.second.newest.isClosed], [false, true]);
    ears.second.isStalled = false;
    ears.first.newest.listener.onSttStall?.("doubtful");
    await ears.settled();
    assert.equal(ears.second.askedCount, 1);
    await ears.pass(700);
    assert.deepEqual([ears.first.newest.isClosed, ears.second.askedCount], [true, 2]);
  });

  it("is not doubted for the first time while it is lost", async () => {
    ears.first.newest.listener.onLost(fault());
    doubt();
    await ears.settled();
    assert.equal(ears.second.askedCount, 0);
  });

  it("is replaced if it fails while another one is being opened", async () => {
    ears.second.isStalled = true;
    doubt();
    const { answer } = ears.second;
    ears.second.isStalled = false;
    ears.first.newest.listener.onFailed(fault());
    await ears.settled();
    answer();
    await ears.settled();
    assert.deepEqual(
      ears.second.ears.map(({ isClosed }) => isClosed),
      [false, true],
    );
  });
});
