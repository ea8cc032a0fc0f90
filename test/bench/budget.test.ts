import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Budget, better, bound, judge, promise, readBudgets } from "../../bench/budget.js";

const latency: Budget = { title: "latency", unit: "ms", absolute: 2, ratioMax: 1.5, why: "" };
const rate: Budget = { title: "rate", unit: "/s", absolute: 1_000, ratioMin: 0.8, why: "" };
const memory: Budget = { title: "memory", unit: "kB", absolute: 250, absoluteMax: 250, why: "" };
const name = "bargeInP99";

const isMet = (budget: Budget, measured: number, reference?: number) =>
  judge({ name, measured, ...(reference === undefined ? {} : { reference }) }, budget).isMet;

describe("a budget", () => {
  it("is met by a kept promise, however fast the reference was", () => {
    assert.equal(isMet(latency, 1.9, 0.5), true);
    assert.equal(isMet(rate, 1_100, 5_000), true);
  });

  it("is met by the ratio where the machine is too slow for the promise", () => {
    assert.equal(isMet(latency, 5, 4), true);
    assert.equal(isMet(rate, 500, 600), true);
  });

  it("is missed by both", () => {
    assert.equal(isMet(latency, 2.1, 1), false);
    assert.equal(isMet(rate, 700, 1_000), false);
  });

  it("without a promise asks for the ratio", () => {
    const { absolute: _absolute, ...bare } = latency;
    assert.equal(isMet(bare, 0.1, 0.05), false);
    assert.equal(isMet(bare, 0.1, 0.1), true);
  });

  it("with a bound looks at no reference", () => {
    assert.equal(isMet(memory, 250, 1), true);
    assert.equal(isMet(memory, 251, 1_000), false);
  });

  it("is missed by what could not be measured", () => {
    for (const budget of [latency, rate, memory]) {
      assert.equal(isMet(budget, Number.NaN, 1), false);
      assert.equal(isMet(budget, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY), false);
    }
    assert.equal(isMet(latency, 3, Number.NaN), false);
    assert.equal(isMet(latency, 3), false);
  });

  it("distinguishes promises from gates", () => {
    const keeps = (budget: Budget, measured: number, reference?: number) =>
      judge({ name, measured, ...(reference === undefined ? {} : { reference }) }, budget).isKept;
    const cpu: Budget = { title: "CPU", unit: "ms", promisedRatio: 0.85, ratioMax: 1.35, why: "" };
    assert.deepEqual([isMet(cpu, 1, 1), keeps(cpu, 1, 1)], [true, false]);
    assert.deepEqual([isMet(cpu, 0.85, 1), keeps(cpu, 0.85, 1)], [true, true]);
    assert.deepEqual([promise(cpu), bound(cpu)], ["ratio ≤ 0.85", "ratio ≤ 1.35"]);
    const faster: Budget = { ...rate, promisedRatio: 1.2 };
    assert.deepEqual([keeps(faster, 1_100, 1_000), keeps(faster, 1_200, 1_000)], [false, true]);
    assert.equal(promise(faster), "ratio ≥ 1.2");
    assert.deepEqual([keeps(latency, 2, 9), keeps(latency, 2.1, 9)], [true, false]);
    assert.deepEqual([keeps(rate, 1_000, 9), keeps(rate, 999, 9)], [true, false]);
    assert.equal(promise(memory), "250 kB");
    for (const budget of [cpu, latency, memory]) assert.equal(keeps(budget, Number.NaN, 1), false);
    const { absolute: _absolute, ...bare } = latency;
    assert.deepEqual([keeps(bare, 1, 1), promise(bare)], [undefined, ""]);
  });

  it("keeps the better of two tries", () => {
    const of = (budget: Budget, measured: number, reference: number) =>
      judge({ name, measured, reference }, budget);
    const [missed, met] = [of(latency, 4, 1), of(latency, 3, 2)];
    assert.equal(better(missed, met), met);
    assert.equal(better(met, missed), met);
    const worse = of(latency, 5, 1);
    assert.equal(better(worse, missed), missed);
    const [slow, slower] = [of(rate, 700, 1_000), of(rate, 600, 1_000)];
    assert.equal(better(slower, slow), slow);
    const [small, large] = [of(memory, 240, 1), of(memory, 249, 1)];
    assert.equal(better(large, small), small);
    const unmeasured = of(latency, Number.NaN, 1);
    assert.equal(better(unmeasured, worse), worse);
    assert.equal(better(worse, unmeasured), worse);
  });
});

describe("the budgets", () => {
  it("say what gates and why", () => {
    for (const [key, { absoluteMax, ratioMax, ratioMin, why }] of Object.entries(readBudgets())) {
      const gating = [absoluteMax, ratioMax, ratioMin].filter((each) => each !== undefined);
      assert.equal(gating.length, 1, `${key} has one bound`);
      assert.ok(why.length > 10, `${key} says why`);
    }
  });
});
