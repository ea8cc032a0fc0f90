import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { CLOSE_CODE_BY_ENDING, CLOSE_CODE_BY_REFUSAL } from "../../api/voice/close-codes.js";
import type { VendorFault } from "../../engine/vendors/contracts.js";
import { TestServer } from "../system/test-server.js";

const FAULTS: Readonly<Record<VendorFault, true>> = {
  unauthorized: true,
  refused: true,
  quotaExceeded: true,
  notFound: true,
  rateLimited: true,
  unavailable: true,
  timeout: true,
  disconnected: true,
  badAnswer: true,
  aborted: true,
};
const FILES = ["deploy/prometheus/alerts.yml", "deploy/grafana/parley.json"];
const METRIC = /\b(?:parley|process|nodejs)_[a-z0-9_]+\b/g;

const texts = FILES.map((path) => readFileSync(join(packageRoot(), path), "utf8"));
let told: string;

before(async () => {
  const server = await TestServer.start();
  told = await (await fetch(`${server.url}/metrics`)).text();
  await server.close();
});

/** The names as Prometheus stores them: a histogram has three. */
function metricNames(): ReadonlySet<string> {
  return new Set(
    [...told.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

for (const [index, path] of FILES.entries()) {
  test(`${path} uses only metrics that the server exports`, () => {
    const names = metricNames();
    const used = new Set([...(texts[index] ?? "").matchAll(METRIC)].map(([name]) => name));
    assert.ok(used.size > 10);
    assert.deepEqual(
      [...used].filter((name) => !names.has(name)),
      [],
    );
  });
}

test("the dashboard shows every metric of the server itself", () => {
  const board = texts[1] ?? "";
  const own = [...told.matchAll(/^# TYPE (parley_\S+) /gm)].map(([, name = ""]) => name);
  assert.ok(own.length > 10);
  assert.deepEqual(
    own.filter((name) => !board.includes(name)),
    [],
  );
});

test("the alert rules name only reasons and faults that exist", () => {
  const known = { ...CLOSE_CODE_BY_ENDING, ...CLOSE_CODE_BY_REFUSAL, ...FAULTS };
  const named = [...(texts[0] ?? "").matchAll(/\b(?:reason|fault)(?:=~|!=|=)"([^"]+)"/g)];
  const words = named.flatMap(([, value = ""]) => value.split("|"));
  assert.ok(words.length > 5);
  assert.deepEqual(
    words.filter((word) => !(word in known)),
    [],
  );
});
