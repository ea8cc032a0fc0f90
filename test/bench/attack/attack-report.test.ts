import assert from "node:assert/strict";
import { test } from "node:test";
import { ATTACKS } from "../../../bench/attack/all-attacks.js";
import { hasBroken, type Outcome, outcomeTable } from "../../../bench/attack/attack-report.js";
import { Findings } from "../../../bench/attack/findings.js";

function outcomeOf(see: (findings: Findings) => void): Outcome {
  const findings = new Findings();
  see(findings);
  const attack = {
    name: "an attack",
    promise: "",
    weight: 1,
    sampleMs: 1,
    run: () => Promise.resolve(),
  };
  return { attack, findings, tookMs: 1 };
}

test("a row counts attempts, and lists each distinct failure once, in one line", async () => {
  const outcome = outcomeOf((findings) => {
    findings.demand(true, "never seen");
    for (let n = 0; n < 3; n += 1) findings.demand(false, "a|b\nc");
    findings.skip("no root");
    findings.tell("3 rounds");
  });
  const { findings } = outcome;
  await findings.requireOf(Promise.reject(new Error("refused")), "a claim");
  await findings.requireOf(Promise.resolve(true), "another");
  const row = outcomeTable([outcome]).split("\n")[2];
  const what = "a\\|b c (3 times); a claim: refused; 3 rounds; skipped: no root";
  assert.equal(row, `| an attack | 6 | 2 | 4 | ${what} |`);
});

test("a break, and an attack that tried nothing and does not say why, are failures", () => {
  const held = (findings: Findings) => findings.demand(true, "");
  assert.equal(hasBroken(outcomeOf(held)), false);
  assert.equal(hasBroken(outcomeOf((findings) => findings.skip("no root"))), false);
  assert.equal(hasBroken(outcomeOf(() => undefined)), true);
  assert.equal(hasBroken(outcomeOf((findings) => findings.demand(false, "lost"))), true);
});

test("failures are counted without limit, and the first twenty kinds of them listed", () => {
  const { findings } = outcomeOf((seen) => {
    for (let n = 0; n < 1_000; n += 1) seen.demand(false, `kind ${n}`);
  });
  assert.equal(findings.broke, 1_000);
  assert.equal(findings.breaks.length, 20);
});

test("each attack has a unique name, and a promise that fits a line of the table", () => {
  assert.equal(new Set(ATTACKS.map(({ name }) => name)).size, ATTACKS.length);
  for (const { name, promise, weight } of ATTACKS) {
    assert.match(name, /^[a-z]+(?:-[a-z]+)*$/);
    assert.ok(promise.length > 20 && !/[|\n]/.test(promise), name);
    assert.ok(weight > 0, name);
  }
});
