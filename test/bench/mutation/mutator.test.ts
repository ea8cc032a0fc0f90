import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf } from "../../../bench/mutation/mutator.js";
import { applied } from "../../../bench/mutation/source-edits.js";

/** Each wrong form of a module, once. */
function wrongForms(source: string): readonly string[] {
  return changesOf(source).map((change) => applied(source, change));
}

test("a comparison moves its boundary, and turns round", () => {
  assert.deepEqual(wrongForms("a < b;"), ["a <= b;", "a >= b;"]);
  assert.deepEqual(wrongForms("a >= b;"), ["a > b;", "a < b;"]);
  assert.deepEqual(wrongForms("a === b;"), ["a !== b;"]);
});

test("a sign is found between its operands, not inside them", () => {
  assert.deepEqual(wrongForms("f((a) - 0) + (b);"), [
    "f((a) + 0) + (b);",
    "f((a) - 1) + (b);",
    "f((a) - 0) - (b);",
  ]);
});

test("joined texts are not subtracted", () => {
  assert.deepEqual(wrongForms('a + " of b";'), []);
  assert.deepEqual(wrongForms("x = `${a}` + b;"), [";"]);
});

test("conditions are always true, never true, and negated ones are not", () => {
  assert.deepEqual(wrongForms("if (!a) b;"), ["if (a) b;", "if (true) b;", "if (false) b;"]);
  assert.deepEqual(wrongForms("a ? b : c;"), ["true ? b : c;", "false ? b : c;"]);
  assert.deepEqual(wrongForms("while (a) b;"), ["while (false) b;"]);
  assert.deepEqual(wrongForms("a && b;"), ["a || b;"]);
  assert.deepEqual(wrongForms("a ?? b;"), ["a && b;"]);
  assert.deepEqual(wrongForms("a ?? b ?? c;"), ["(a ?? b) && c;", "a && b ?? c;"]);
});

test("numbers grow by one, or double where one more is nothing, booleans flip, and single words change", () => {
  assert.deepEqual(wrongForms("f(99, true);"), [";", "f(100, true);", "f(99, false);"]);
  assert.deepEqual(wrongForms("f(1_000);"), [";", "f(2000);"]);
  assert.deepEqual(wrongForms('({ kind: "llm", text: "two words" });'), [
    '({ kind: "mutated", text: "two words" });',
  ]);
  assert.deepEqual(wrongForms("Math.min(a, b).c;"), ["Math.max(a, b).c;"]);
});

test("calls, assignments and what is spread only sometimes are left out", () => {
  assert.deepEqual(wrongForms("a(); b = c; await d;"), [
    "; b = c; await d;",
    "a(); ; await d;",
    "a(); b = c; ;",
  ]);
  assert.deepEqual(wrongForms("({ ...(a && b), ...c });"), [
    "({ ...[], ...c });",
    "({ ...(a || b), ...c });",
  ]);
});

test("a block that does something before it leaves goes on instead", () => {
  const forms = wrongForms("function f() { if (a) { b.c; return; } d.e; }");
  assert.ok(forms.includes("function f() { if (a) { b.c; ; } d.e; }"));
  const alone = wrongForms("function f() { if (a) { return; } d.e; }");
  assert.deepEqual(alone, [
    "function f() { if (true) { return; } d.e; }",
    "function f() { if (false) { return; } d.e; }",
  ]);
});

test("what is only logged, imports and the parent's constructor stay", () => {
  assert.deepEqual(wrongForms('import { a } from "b"; this.#log.info({ c: 1 }, "d");'), []);
  assert.deepEqual(wrongForms("class A extends B { constructor() { super(); } }"), []);
});

test("what is not a module is refused", () => {
  assert.throws(() => changesOf("if ("), /cannot be parsed/);
});
