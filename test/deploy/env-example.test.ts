import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { parseConfig, variableDefaults } from "../../config.js";

const text = readFileSync(join(packageRoot(), ".env.example"), "utf8");
const LINE = /^(# )?([A-Z][A-Z0-9_]*)=(.*)$/gm;
const lines = [...text.matchAll(LINE)].map(([, comment, name = "", value = ""]) => ({
  isSet: comment === undefined,
  name,
  value,
}));

test(".env.example lists every variable that is read, once, and no other", () => {
  assert.deepEqual(lines.map(({ name }) => name).sort(), Object.keys(variableDefaults()).sort());
});

test("a commented-out line contains the variable's default", () => {
  const commented = lines.filter(({ isSet }) => !isSet);
  const environment = Object.fromEntries(commented.map(({ name, value }) => [name, value]));
  assert.deepEqual(parseConfig(environment), parseConfig({}));
});

test(".env.example suffices for production with its two keys filled in, and does not without them", () => {
  const set = lines.filter(({ isSet }) => isSet);
  const environment = Object.fromEntries(set.map(({ name, value }) => [name, value]));
  assert.throws(() => parseConfig(environment), /JWT_SECRET: required[^]*ENCRYPTION_KEY: required/);
  const keys = { JWT_SECRET: "j".repeat(32), ENCRYPTION_KEY: "5a".repeat(32) };
  assert.equal(parseConfig({ ...environment, ...keys }).isProduction, true);
});
