import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { rootCertificates } from "node:tls";
import * as v from "valibot";
import {
  certificateFile,
  databaseUrl,
  defaultsOf,
  flag,
  httpBackend,
  httpUrl,
  list,
  logLevel,
  parseSettings,
  variablesSet,
  webSocketUrl,
  wholeNumber,
} from "../../engine/settings.js";
import { temporaryFile } from "../storage/temporary-file.js";

/** The parsed value of a variable, or its error. */
function read(schema: v.GenericSchema, given?: string): unknown {
  const parsed = v.safeParse(schema, given);
  return parsed.success ? parsed.output : parsed.issues[0].message;
}

test("a list is the words between its commas", () => {
  assert.deepEqual(read(list, " one, two words ,,three,"), ["one", "two words", "three"]);
  assert.deepEqual([read(list), read(list, " , ")], [[], []]);
});

test("a flag is true or false, and false where it is not set", () => {
  assert.deepEqual(
    ["true", "1", "false", "0", undefined, "yes"].map((word) => read(flag, word)),
    [true, true, false, false, false, "expected true or false"],
  );
});

test("a whole number is within its limits, both of which are allowed", () => {
  const schema = wholeNumber(7, 5, 10);
  const refused = "expected a whole number from 5 to 10";
  assert.deepEqual(
    [undefined, "4", "5", "10", "11", "-6", "6.5", "six"].map((word) => read(schema, word)),
    [7, refused, 5, 10, refused, refused, refused, refused],
  );
});

test("an address begins with one of its protocols", () => {
  for (const [schema, good, expected] of [
    [httpUrl, ["http://a", "https://a.example/b"], "http:// or https://"],
    [webSocketUrl, ["ws://a", "wss://a"], "ws:// or wss://"],
    [databaseUrl, ["postgres://a/b", "postgresql://a"], "postgres:// or postgresql://"],
  ] as const) {
    assert.deepEqual(
      good.map((word) => read(schema, word)),
      good,
    );
    for (const bad of ["ftp://a", "a word", ""]) {
      assert.equal(read(schema, bad), `expected an address that begins with ${expected}`);
    }
  }
});

test("a file of certificates is read where all of it are some", () => {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  const [one = "", other = ""] = rootCertificates;
  const broken = one.replace(/\n[^-]+\n/, "\nbroken\n");
  const refused = "expected a file of certificates in PEM form";
  assert.equal(read(certificateFile, path), refused, "it is not there");
  for (const [text, isTaken] of [
    [one, true],
    [`${one}\n${other}\n`, true],
    [`${one}\n${broken}\n`, false],
    ["no certificate", false],
    ["", false],
  ] as const) {
    writeFileSync(path, text);
    assert.equal(read(certificateFile, path), isTaken ? text : refused);
  }
});

test("what is not set has its default, and what is unknown is refused", () => {
  for (const [schema, byDefault, words, refused] of [
    [
      logLevel,
      "info",
      ["debug", "info", "warn", "error", "silent"],
      "expected debug, info, warn, error or silent",
    ],
    [httpBackend, "auto", ["auto", "uws", "node"], "expected auto, uws or node"],
  ] as const) {
    assert.equal(read(schema), byDefault);
    assert.deepEqual(
      words.map((word) => read(schema, word)),
      words,
    );
    assert.equal(read(schema, "loud"), refused);
  }
});

test("all errors are reported together, one per line", () => {
  const schema = v.object({ PORT: wholeNumber(1, 1, 9), BUSY: flag, LEVEL: logLevel });
  assert.deepEqual(parseSettings(schema, { PORT: "3", LEVEL: "", OTHER: "x" }), {
    PORT: 3,
    BUSY: false,
    LEVEL: "info",
  });
  const faults = ["PORT: expected a whole number from 1 to 9", "BUSY: expected true or false"];
  const others = ["and another"];
  assert.throws(() => parseSettings(schema, { PORT: "10", BUSY: "maybe" }, others), {
    name: "ConfigError",
    message: `the configuration is wrong:\n  ${faults[0]}\n  ${faults[1]}\n  and another`,
    faults: [...faults, ...others],
  });
  assert.throws(() => parseSettings(schema, {}, others), { faults: others });
});

test("a variable without text counts as one that is not set", () => {
  assert.deepEqual(variablesSet({ A: "a", B: "", C: undefined, D: " " }), { A: "a", D: " " });
  assert.deepEqual(defaultsOf({ A: flag, B: logLevel, C: v.optional(v.string()) }), {
    A: "false",
    B: "info",
    C: undefined,
  });
});
