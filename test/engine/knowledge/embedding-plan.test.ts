import assert from "node:assert/strict";
import { test } from "node:test";
import { documentEmbeddings, embeddingPlan } from "../../../engine/knowledge/embedding-plan.js";
import { VECTORS_PER_ORGANIZATION_MAX } from "../../../engine/knowledge/vector-sets.js";

const large = (id: string, passages: number) => ({ id, characters: 100_000, passages });
const small = (id: string) => ({ id, characters: 4_000, passages: 6 });

test("small documents are embedded only if they do not all fit into a prompt", () => {
  const three = [small("a"), small("b"), small("c")];
  assert.deepEqual([...new Set(embeddingPlan(three).values())], ["whole"]);
  assert.deepEqual([...new Set(embeddingPlan([...three, small("d")]).values())], ["embedded"]);
});

test("documents beyond the limit of vectors are left out, the newest first", () => {
  const plan = embeddingPlan([
    large("old", VECTORS_PER_ORGANIZATION_MAX - 10),
    large("big", 11),
    large("new", 10),
    large("last", 1),
  ]);
  assert.deepEqual([...plan.values()], ["embedded", "limited", "embedded", "limited"]);
});

test("the state of a document follows its vectors", () => {
  const documents = [large("none", 0), large("half", 10), large("all", 10), small("small")];
  const counts = new Map([
    ["half", 4],
    ["all", 10],
  ]);
  const states = (error: string | null) =>
    [...documentEmbeddings(documents, { error }, counts).values()].map(({ state }) => state);
  assert.deepEqual(states(null), ["none", "pending", "ready", "whole"]);
  assert.deepEqual(states("away"), ["none", "failed", "ready", "whole"]);
  const off = documentEmbeddings(documents, undefined, new Map());
  assert.deepEqual([...new Set([...off.values()].map(({ state }) => state))], ["none"]);
});
