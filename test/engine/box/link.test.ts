import assert from "node:assert/strict";
import { test } from "node:test";
import { Link, type Parcel, QUESTIONS_WAITING_MAX } from "../../../engine/box/link.js";
import { Failure } from "../../../engine/failure.js";
import { SilentLogger } from "../../doubles/silent-logger.js";

interface Echo {
  readonly echo: { readonly asks: number; readonly answers: number };
}

/** Two ends of a way on which parcels wait until they are let through. */
function pair() {
  const handlers = { echo: (given: number) => given };
  const log = new SilentLogger();
  const waiting: Parcel[] = [];
  const asker = new Link<Echo, Echo>((parcel) => waiting.push(parcel), handlers, log);
  const other = new Link<Echo, Echo>((parcel) => asker.receive(parcel), handlers, log);
  const letThrough = async () => {
    // What is said in one turn goes at its end.
    await new Promise((resolve) => process.nextTick(resolve));
    for (const parcel of waiting.splice(0)) other.receive(parcel);
  };
  return { asker, letThrough };
}

test("a process that stands still is asked so many things and no more, until it has answered", async () => {
  const { asker, letThrough } = pair();
  const asked = Array.from({ length: QUESTIONS_WAITING_MAX }, (_, index) =>
    asker.ask("echo", index),
  );
  await assert.rejects(asker.ask("echo", 0), Failure);
  await letThrough();
  assert.deepEqual(await Promise.all(asked), [...asked.keys()]);
  const again = asker.ask("echo", 7);
  await letThrough();
  assert.equal(await again, 7);
});
