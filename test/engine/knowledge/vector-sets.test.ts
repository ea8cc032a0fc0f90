import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  RELOAD_MIN_MS,
  THREAD_REQUESTS_MAX,
  VECTOR_BYTES_MAX,
  VectorSets,
} from "../../../engine/knowledge/vector-sets.js";
import type { StoredChoice, StoredVector } from "../../../storage/knowledge/embedding-store.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const CHOICE: StoredChoice = {
  orgId: "org",
  providerId: "provider",
  modelId: "model",
  requestedDimensions: null,
  dimensions: 2,
  setId: "set",
  revision: 1,
  tokens: 0,
  error: null,
  createdAtMs: 0,
  updatedAtMs: 0,
};

function stored(passage: number, documentId: string, ...values: number[]): StoredVector {
  return { passage, documentId, vector: new Uint8Array(Float32Array.from(values).buffer) };
}

const answer = (...embedding: number[]) => Buffer.from(JSON.stringify({ data: [{ embedding }] }));

function opened(context: TestContext, vectors: StoredVector[]) {
  const clock = new VirtualClock();
  let reads = 0;
  const store = {
    vectors: async ({ orgId }: { orgId: string }, after: number, limit: number) => {
      if (after === -1) reads += 1;
      if (orgId !== "org") return [];
      return vectors.filter(({ passage }) => passage > after).slice(0, limit);
    },
  };
  const onError = (error: unknown) => assert.fail(String(error));
  const sets = new VectorSets({ store, clock, onError });
  context.after(() => sets.close());
  return { sets, clock, readCount: () => reads };
}

test("the nearest passages of the wanted documents are found, the nearest first", async (context) => {
  const vectors = [
    stored(1, "a", 1, 0),
    stored(2, "a", 0.6, 0.8),
    stored(3, "b", 0, 1),
    stored(4, "a", -1, 0),
  ];
  const { sets } = opened(context, vectors);
  assert.equal(await sets.search(CHOICE, answer(0, 1), ["a"], 2), undefined);
  await sets.load(CHOICE);
  assert.deepEqual(await sets.search(CHOICE, answer(0, 5), ["a", "b"], 3), [3, 2, 1]);
  assert.deepEqual(await sets.search(CHOICE, answer(0, 5), ["a"], 1), [2]);
  assert.deepEqual(await sets.search(CHOICE, answer(0, 5), ["c"], 1), []);
});

test("vectors of another choice or another length are never compared", async (context) => {
  const { sets } = opened(context, [stored(1, "a", 1, 0), stored(2, "a", 1, 0, 0)]);
  await sets.load(CHOICE);
  assert.deepEqual(await sets.search(CHOICE, answer(1, 0), ["a"], 5), [1]);
  assert.equal(await sets.search(CHOICE, answer(1, 0, 0), ["a"], 5), undefined);
  assert.equal(await sets.search({ ...CHOICE, setId: "other" }, answer(1, 0), ["a"], 5), undefined);
  assert.equal(await sets.search({ ...CHOICE, orgId: "b" }, answer(1, 0), ["a"], 5), undefined);
});

test("all pages are read, once for a revision, and not too often while it changes", async (context) => {
  const vectors = Array.from({ length: 101 }, (_each, passage) => stored(passage, "a", 1, 0));
  const { sets, clock, readCount } = opened(context, vectors);
  await Promise.all([sets.load(CHOICE), sets.load(CHOICE)]);
  await sets.load(CHOICE);
  assert.equal(readCount(), 1);
  assert.equal((await sets.search(CHOICE, answer(1, 0), ["a"], 200))?.length, 101);
  vectors.push(stored(101, "a", 1, 0));
  const changed = { ...CHOICE, revision: 2 };
  await sets.load(changed);
  assert.equal(readCount(), 1);
  clock.advance(RELOAD_MIN_MS);
  await sets.load(changed);
  assert.equal(readCount(), 2);
  assert.equal((await sets.search(CHOICE, answer(1, 0), ["a"], 200))?.length, 102);
});

test("beyond the memory of a process, the organization that was not used longest is dropped", async (context) => {
  const reads: string[] = [];
  const store = {
    vectors: async ({ orgId }: { orgId: string }) => {
      reads.push(orgId);
      return [stored(1, "a", 1, 0)];
    },
  };
  const onError = (error: unknown) => assert.fail(String(error));
  const sets = new VectorSets({ store, clock: new VirtualClock(), onError });
  context.after(() => sets.close());
  const small = (orgId: string) => sets.load({ ...CHOICE, orgId });
  await small("first");
  await small("second");
  await small("first");
  // Two such vectors would not fit.
  const dimensions = VECTOR_BYTES_MAX / 4 - 2;
  await sets.load({ ...CHOICE, orgId: "large", dimensions });
  await small("first");
  assert.deepEqual(reads, ["first", "second", "large"]);
  await small("second");
  assert.deepEqual(reads, ["first", "second", "large", "second"]);
});

test("answers are parsed in the thread, and too many at a time are refused", async (context) => {
  const { sets } = opened(context, []);
  const many = Array.from({ length: THREAD_REQUESTS_MAX + 1 }, () => sets.parse(answer(3, 4), 1));
  const results = await Promise.all(many);
  assert.equal(results.filter((each) => each === undefined).length, 1);
  const [vector] = results[0]?.vectors ?? [];
  assert.equal(vector?.byteLength, 8);
  assert.equal(await sets.parse(Buffer.from("broken"), 1), undefined);
  await sets.close();
  assert.equal(await sets.parse(answer(3, 4), 1), undefined);
});
