import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestError } from "../../../engine/request-error.js";
import { Semaphore } from "../../../engine/security/semaphore.js";

/** Work that finishes when the test says so. */
class ScriptedWork {
  readonly started: string[] = [];
  readonly #finishByName = new Map<string, () => void>();

  readonly #bounded: Semaphore;

  constructor(bounded: Semaphore) {
    this.#bounded = bounded;
  }

  begin(name: string): Promise<string> {
    return this.#bounded.run(async () => {
      this.started.push(name);
      await new Promise<void>((resolve) => this.#finishByName.set(name, resolve));
      return name;
    });
  }

  finish(name: string): void {
    this.#finishByName.get(name)?.();
  }
}

/** All settled promises have run their callbacks before the next turn of the event loop. */
function everythingStarted(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function scriptedWork(): ScriptedWork {
  return new ScriptedWork(
    new Semaphore({ runningMax: 2, waitingMax: 1, refusal: "busy", retryAfterSec: 3 }),
  );
}

test("a task beyond the limit starts when a running one ends", async () => {
  const work = scriptedWork();
  const [first, second, third] = [work.begin("first"), work.begin("second"), work.begin("third")];
  await everythingStarted();
  assert.deepEqual(work.started, ["first", "second"]);

  work.finish("second");
  assert.equal(await second, "second");
  await everythingStarted();
  assert.deepEqual(work.started, ["first", "second", "third"]);

  work.finish("first");
  work.finish("third");
  assert.deepEqual(await Promise.all([first, third]), ["first", "third"]);
});

test("a task beyond the full queue is refused immediately, with a delay for the retry", async () => {
  const work = scriptedWork();
  const taken = [work.begin("first"), work.begin("second"), work.begin("third")];
  await assert.rejects(work.begin("fourth"), (error) => {
    assert.ok(error instanceof RequestError);
    assert.equal(error.code, "overloaded");
    assert.equal(error.retryAfterSec, 3);
    return true;
  });

  work.finish("first");
  work.finish("second");
  await everythingStarted();
  work.finish("third");
  await Promise.all(taken);
});

test("a task that fails returns its permit", async () => {
  const bounded = new Semaphore({ runningMax: 1, waitingMax: 1, refusal: "", retryAfterSec: 1 });
  await assert.rejects(
    bounded.run(() => Promise.reject(new Error("no luck"))),
    /no luck/,
  );
  assert.equal(await bounded.run(() => Promise.resolve("next")), "next");
});
