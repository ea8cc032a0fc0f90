import assert from "node:assert/strict";
import { test } from "node:test";
import { EMBEDDING_DIMENSIONS_MAX } from "../../../../api/contract/knowledge.js";
import {
  DIMENSIONS_MAX,
  parseEmbeddings,
} from "../../../../engine/vendors/openai-protocol/embedding-answer.js";

const parsed = (data: readonly object[], count = data.length, usage?: object) =>
  parseEmbeddings(Buffer.from(JSON.stringify({ data, usage })), count);

test("vectors are put in the order of the request and brought to length 1", () => {
  const answer = parsed(
    [
      { index: 1, embedding: [0, 2] },
      { index: 0, embedding: [3, 4] },
    ],
    2,
    { prompt_tokens: 7 },
  );
  const first = [...(answer?.vectors[0] ?? [])].map((value) => Math.round(value * 10));
  assert.deepEqual(
    [first, [...(answer?.vectors[1] ?? [])]],
    [
      [6, 8],
      [0, 1],
    ],
  );
  assert.deepEqual([answer?.dimensions, answer?.tokens], [2, 7]);
  assert.equal(parsed([{ embedding: [1] }])?.tokens, 0);
});

test("an answer that is not one vector of equal length for each text is refused", () => {
  const one = { index: 0, embedding: [1, 0] };
  assert.equal(parsed([one], 2), undefined);
  assert.equal(parsed([one, one]), undefined);
  assert.equal(parsed([one, { index: 2, embedding: [1, 0] }]), undefined);
  assert.equal(parsed([one, { index: 1, embedding: [1] }]), undefined);
  assert.equal(parsed([{ index: 0, embedding: [0, 0] }]), undefined);
  assert.equal(parsed([{ index: 0, embedding: [] }]), undefined);
  assert.equal(parsed([{ index: 0, embedding: "AAAA" }]), undefined);
  assert.equal(parsed([{ index: 0, embedding: [1e308, 1e308] }]), undefined);
  assert.equal(parseEmbeddings(Buffer.from('{"data":['), 1), undefined);
});

test("the contract and the engine have the same limit of dimensions", () => {
  assert.equal(EMBEDDING_DIMENSIONS_MAX, DIMENSIONS_MAX);
});
