import assert from "node:assert/strict";
import { test } from "node:test";
import { compileFunction } from "node:vm";
import { changesOf } from "../../../bench/mutation/mutator.js";
import { applied } from "../../../bench/mutation/source-edits.js";
import { switchedSource } from "../../../bench/mutation/switched-source.js";

/** Every form that the mutator changes, as a body of a function of `a`, `b` and `log`. */
const BODY = `
  const found = [];
  if (a > 1 && b !== 0) { found.push("both"); return found; } else found.push("one");
  for (let at = 0; at < a; at += 1) { if (!b) continue; found[0] = at * 2 - b; }
  switch (b) { case 1: found.push(true); break; case 2: found.push(Math.min(a, 3)); break; default: found.push(-1); }
  const told = { kind: "sum", 7: a + b, ...(a === 2 && { more: a ?? 5 }), list: [...(b ? [b--] : [])] };
  if (a < b) log("less"); else log("more");
  return [found, told, a <= 2 || b, (() => a % 3 === 0)() ? "three" : "not"];
`;
const INPUTS = [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 150].map((b) => [a, b] as const));

function results(body: string, isOn: (number: number) => boolean): readonly string[] {
  const run = compileFunction(body, ["$isOn", "a", "b", "log"]);
  return INPUTS.map(([a, b]) => {
    const logged: string[] = [];
    return JSON.stringify([run(isOn, a, b, (text: string) => logged.push(text)), logged]);
  });
}

/** Nothing that counts down for ever. */
const isEnding = (form: string) => !/at >= a; at \+= 1|at < a; at -= 1|at < a; at \+= 0/.test(form);

test("each change of a switched module does what it does alone, and none of them changes nothing", () => {
  const source = `function f(a, b, log) {${BODY}}`;
  const changes = changesOf(source);
  assert.ok(changes.length > 60);
  const numbered = changes.map((change, number) => ({ number, change }));
  const switched = switchedSource(source, numbered, "./switch.js");
  const [head, ...rest] = switched.split(";");
  assert.equal(head, 'import{isOn as $isOn}from"./switch.js"');
  assert.equal(switched.split("\n").length, source.split("\n").length);
  const bodyOf = (text: string) => text.slice(text.indexOf("{") + 1, text.lastIndexOf("}"));
  const body = bodyOf(rest.join(";"));
  assert.deepEqual(
    results(body, () => false),
    results(BODY, () => false),
  );
  let differentCount = 0;
  for (const { number, change } of numbered) {
    const alone = bodyOf(applied(source, change));
    if (!isEnding(alone)) continue;
    const expected = results(alone, () => false);
    assert.deepEqual(
      results(body, (asked) => asked === number),
      expected,
      alone,
    );
    if (expected.join() !== results(BODY, () => false).join()) differentCount += 1;
  }
  assert.ok(differentCount > 50);
});

test("a module that has the name of the switch gets another", () => {
  const source = "const $isOn = 1 + 2;";
  const changes = changesOf(source).map((change, number) => ({ number, change }));
  assert.match(switchedSource(source, changes, "./s.js"), /^import\{isOn as \$isOn_\}/);
});

test("a chain of defaults still loads when each of its signs can be another one", () => {
  const source = "export const f = (a, b) => a ?? b ?? 5;";
  const numbered = changesOf(source).map((change, number) => ({ number, change }));
  const text = switchedSource(source, numbered, "./switch.js");
  const body = text.slice(text.indexOf("=>") + 2);
  const valueOf = (mutant: number, a: unknown, b: unknown): unknown =>
    compileFunction(`return ${body}`, ["$isOn", "a", "b"])((n: number) => n === mutant, a, b);
  assert.equal(valueOf(-1, undefined, 2), 2);
  assert.equal(valueOf(-1, 1, 2), 1);
  assert.deepEqual(
    numbered.map(({ number }) => valueOf(number, 1, 2)),
    [5, 2, 1],
  );
});
