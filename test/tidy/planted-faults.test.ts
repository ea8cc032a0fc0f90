import assert from "node:assert/strict";
import { test } from "node:test";
import {
  builtinPrefix,
  engineStairs,
  importDirection,
  ownedPackages,
  sandboxStaysOutside,
  transitionIsPure,
} from "./import-rules.js";
import { codeOnly, type FileRule, withoutComments } from "./source-file.js";
import {
  bannedTexts,
  fileLength,
  fileNames,
  timeAndChance,
  wakefulTests,
  wholeTests,
} from "./text-rules.js";
import { medianLength, topLevel } from "./tree-rules.js";

type Planted = readonly [path: string, text: string];

function check(rule: FileRule, wrong: readonly Planted[], right: readonly Planted[]): void {
  for (const [path, text] of wrong) {
    assert.ok(rule({ path, text }).length > 0, `not found in ${path}: ${text}`);
  }
  for (const [path, text] of right) assert.deepEqual(rule({ path, text }), [], `${path}: ${text}`);
}

test("a wrong import is found with its line", () => {
  const text = 'import { a } from "./a.js";\n\nimport { b } from "../../api/http/server.js";\n';
  assert.deepEqual(importDirection({ path: "engine/calls/b.ts", text }), [
    { path: "engine/calls/b.ts", line: 3, message: "engine/ may not import api/http/server.ts" },
  ]);
});

test("imports against the direction", () => {
  check(
    importDirection,
    [
      ["engine/a.ts", 'import type { A } from "../api/a.js";'],
      ["engine/a.ts", 'export * from "../config.js";'],
      ["storage/a.ts", 'import {\n  a,\n  type B,\n} from "../engine/failure.js";'],
      ["storage/a.ts", 'const a = await import("../engine/failure.js");'],
      ["storage/a.ts", 'new Worker(new URL("../engine/a.js", import.meta.url));'],
      ["api/routes/a.ts", 'import { b } from "../../config.js";'],
      ["api/a.ts", 'import "../main.js";'],
      ["config.ts", 'import { b } from "./engine/b.js";'],
      ["engine/a.ts", 'import { b } from "../test/doubles/b.js";'],
      ["lib/a.ts", ""],
    ],
    [
      ["main.ts", 'import { a } from "./api/a.js";\nimport { b } from "./config.js";'],
      [
        "api/a.ts",
        'import { a } from "../engine/a.js";\nimport type { B } from "../storage/b.js";',
      ],
      [
        "engine/a/a.ts",
        'import { a } from "../b/a.js";\nimport type { B } from "../../storage/b.js";',
      ],
      ["api/commands/a.ts", 'import { b } from "../../config.js";'],
      ["test/a.ts", 'import { b } from "../api/b.js";'],
      [
        "engine/a.ts",
        '// import { b } from "../api/b.js";\nconst c = \'import { b } from "../api/b.js";\';',
      ],
    ],
  );
});

test("imports against the stairs of the engine", () => {
  check(
    engineStairs,
    [
      ["engine/session/a.ts", 'import type { B } from "../calls/b.js";'],
      ["engine/session/a.ts", 'import { b } from "../telephony/b.js";'],
      ["engine/tenancy/a.ts", 'import { b } from "../session/b.js";'],
      ["engine/vendors/contracts.ts", 'import { b } from "../speech/b.js";'],
      ["engine/vendors/groq/a.ts", 'import { b } from "../openai/b.js";'],
      ["engine/vendors/transport/a.ts", 'import { b } from "../edge/b.js";'],
      ["engine/sandbox/a.ts", 'import { b } from "../audio/b.js";'],
      ["engine/new/a.ts", 'import { b } from "./b.js";'],
      ["engine/stray.ts", "const a = 1;"],
    ],
    [
      ["engine/calls/a.ts", 'import { b } from "../session/b.js";'],
      ["engine/session/a.ts", 'import type { B } from "../../storage/records.js";'],
      ["engine/vendors/groq/a.ts", 'import { b } from "../chat-completions/b.js";'],
      ["engine/vendors/registry.ts", 'import { b } from "./edge/b.js";'],
      ["engine/telephony/telnyx/a.ts", 'import { b } from "../twilio/twiml.js";'],
      ["engine/tenancy/a.ts", 'import { Failure } from "../failure.js";'],
      ["engine/failure.ts", "const a = 1;"],
      ["api/voice/a.ts", 'import { b } from "../../engine/calls/b.js";'],
    ],
  );
});

test("packages in the wrong place", () => {
  check(
    ownedPackages,
    [
      ["engine/vendors/a.ts", 'import { App } from "uWebSockets.js";'],
      ["api/a.ts", 'import { fetch } from "undici";'],
      ["engine/a.ts", 'import type { Kysely } from "kysely";'],
      ["engine/a.ts", 'import { sql } from "kysely/helpers";'],
      ["api/a.ts", 'import Database from "better-sqlite3";'],
      ["api/a.ts", 'import { jwtVerify } from "jose";'],
      ["engine/vendors/a.ts", 'import { WebSocket } from "ws";'],
      ["engine/session/a.ts", 'import { Piscina } from "piscina";'],
      ["api/routes/a.ts", 'import { toJsonSchema } from "@valibot/to-json-schema";'],
      ["api/http/a.ts", 'import { Counter } from "prom-client";'],
      ["engine/calls/a.ts", 'import { pino } from "pino";'],
      ["engine/session/a.ts", 'import { MPEGDecoder } from "mpg123-decoder";'],
      ["engine/speech/a.ts", 'import * as fc from "fast-check";'],
    ],
    [
      ["api/http/server.ts", 'import { App } from "uWebSockets.js";'],
      ["engine/vendors/a.ts", 'import { fetch } from "undici";'],
      ["engine/sandbox/a.ts", 'import { WebSocket } from "ws";'],
      ["api/contract/a.ts", 'import { toJsonSchema } from "@valibot/to-json-schema";'],
      ["engine/log.ts", 'import { pino } from "pino";'],
      [
        "engine/calls/a.ts",
        'import * as v from "valibot";\nimport { readFile } from "node:fs/promises";',
      ],
    ],
  );
  check(
    builtinPrefix,
    [["engine/a.ts", 'import { readFileSync } from "fs";']],
    [["engine/a.ts", 'import { readFileSync } from "node:fs";']],
  );
});

test("the sandbox in the product", () => {
  const text = 'import { startSandbox } from "../sandbox/sandbox.js";';
  check(
    sandboxStaysOutside,
    [
      ["engine/session/a.ts", text],
      ["api/voice/a.ts", 'import type { A } from "../../engine/sandbox/a.js";'],
    ],
    [
      ["main.ts", 'import { startSandboxThread } from "./engine/sandbox/start-sandbox-thread.js";'],
      ["engine/sandbox/a.ts", 'import { a } from "./sandbox.js";'],
    ],
  );
});

test("a transition that is not pure, however far away the reason is", () => {
  const transition = {
    path: "engine/session/transition.ts",
    text: 'import { a } from "./turn.js";',
  };
  const turnWith = (text: string) =>
    transitionIsPure([transition, { path: "engine/session/turn.ts", text }]);
  const wrong = [
    'import { SystemClock } from "../time/clock.js";',
    'import * as v from "valibot";',
    'import { VendorError } from "../vendors/contracts.js";',
    "export const now = () => Date.now();",
    "export async function later() {}",
  ];
  for (const text of wrong) {
    assert.equal(turnWith(text)[0]?.path, "engine/session/turn.ts", text);
  }
  const right = [
    'import type { VendorFault } from "../vendors/contracts.js";',
    'import { type Persona } from "../../storage/records.js";',
    'import { splitToken } from "../speech/sentence-splitter.js";\n// Date.now() is not used',
    'export const note = "await";',
  ];
  for (const text of right) assert.deepEqual(turnWith(text), [], text);
  const actor = { path: "engine/session/session-actor.ts", text: "await Promise.resolve();" };
  assert.deepEqual(transitionIsPure([transition, actor]), []);
});

test("long files, and a tree of long files", () => {
  check(fileLength, [["engine/a.ts", "a\n".repeat(301)]], [["engine/a.ts", "a\n".repeat(300)]]);
  const ofLines = (lines: number) => ({ path: "engine/a.ts", text: "a\n".repeat(lines) });
  assert.equal(medianLength([ofLines(10), ofLines(100), ofLines(101)]).length, 1);
  assert.deepEqual(medianLength([ofLines(10), ofLines(99), ofLines(300)]), []);
  assert.deepEqual(medianLength([{ path: "test/a.test.ts", text: "a\n".repeat(250) }]), []);
});

test("names that say nothing", () => {
  const wrong = [
    "engine/utils.ts",
    "api/types.ts",
    "storage/index.ts",
    "engine/call-manager.ts",
    "engine/common/a.ts",
    "engine/sentenceSplitter.ts",
    "engine/Agent.ts",
    "engine/my_file.ts",
    "test/a-helper.test.ts",
  ];
  const right = [
    "main.ts",
    "engine/speech/sentence-splitter.ts",
    "storage/migrations/001-first.ts",
    "test/tidy.test.ts",
  ];
  check(
    fileNames,
    wrong.map((path) => [path, ""]),
    right.map((path) => [path, ""]),
  );
});

test("clocks, chance and environment outside of their places", () => {
  const wrong = [
    "setTimeout(go, 5);",
    "const a = Date.now();",
    "const a = Math.random();",
    "const a = process.env['A'];",
    "const a = new Date();",
    ["const a = `$", "{Date.now()}`;"].join(""),
    'import { setTimeout as wait } from "node:timers/promises";',
  ];
  check(
    timeAndChance,
    wrong.map((text) => ["engine/calls/a.ts", text]),
    [
      ...wrong.map((text): Planted => ["engine/time/clock.ts", text]),
      [
        "engine/calls/a.ts",
        "const a = new Date(atMs); // not Date.now()\nclock.setTimeout(1); const b = 'Math.random';",
      ],
    ],
  );
});

test("texts that are banned", () => {
  const key = ["sk", "proj-a1b2c3d4e5f6g7h8i9j0"].join("-");
  const note = ["TO", "DO"].join("");
  check(
    bannedTexts,
    [
      ["engine/a.ts", "export default 5;"],
      ["engine/a.ts", "const a: any = 5;"],
      ["engine/a.ts", "const a = b as any;"],
      ["engine/a.ts", "const a = new Map<string, any[]>();"],
      ["engine/a.ts", "interface IAgent {}"],
      ["engine/a.ts", "console.log(1);"],
      ["engine/a.ts", ["// @ts", "ignore"].join("-")],
      ["engine/a.ts", ["// oxlint", "disable-next-line no-shadow"].join("-")],
      ["engine/a.ts", `// ${note}: later`],
      ["engine/a.ts", `const key = "${key}";`],
      ["test/a.ts", `const key = "${key}";`],
      ["engine/a.ts", `const key = "${"0f".repeat(32)}";`],
      ["engine/a.ts", `const key = "vk_${"0f".repeat(24)}";`],
    ],
    [
      [
        "engine/a.ts",
        "// any text\nconst a = AbortSignal.any([b]); const c = 'any'; const d = { any: 1 };",
      ],
      ["engine/a.ts", "const many = /any thing/; const Interface = 1; interface Item {}"],
      ["storage/migrations/001.ts", "export function up(database: Kysely<any>) {}"],
      ["api/commands/a.ts", "console.log(1);"],
      ["test/a.ts", `const key = "${"0f".repeat(32)}";`],
      ["engine/a.ts", "// See the standard, section default export rules.\nexport const a = 1;"],
      [
        "engine/a.ts",
        ["// oxlint", "disable-next-line no-shadow -- the wire's own name"].join("-"),
      ],
    ],
  );
});

test("tests that are left out or sleep", () => {
  const call = (name: string) => `${name}("a", () => {});`;
  check(
    wholeTests,
    [
      ["test/a.test.ts", call("test.only")],
      ["test/a.test.ts", call("describe.skip")],
      ["test/a.test.ts", 'test("a", { skip: true }, () => {});'],
    ],
    [
      ["test/a.test.ts", call("test")],
      ["test/a.test.ts", 'test("what test.only( does", () => {});'],
      ["engine/a.ts", "list.skip(1);"],
    ],
  );
  check(
    wakefulTests,
    [
      ["test/a.test.ts", "await new Promise((done) => setTimeout(done, 50));"],
      ["test/a.test.ts", "await sleep(50);"],
      ["test/a.test.ts", 'import { setTimeout as later } from "node:timers/promises";'],
    ],
    [
      ["test/a.test.ts", 'clock.after(50, go); await once(socket, "message");'],
      ["test/a.test.ts", 'import { setImmediate as nextTurn } from "node:timers/promises";'],
      ["bench/a.ts", "setTimeout(go, 50);"],
    ],
  );
});

test("folders that the design does not know", () => {
  assert.deepEqual(
    topLevel(["api/", "src/", "main.ts", "setup.ts", "README.md", "dist-a/", ".git/"]).map(
      ({ path }) => path,
    ),
    ["src/", "setup.ts"],
  );
});

test("comments and strings are told from code", () => {
  const text =
    "const a = 'x // y'; // z\nconst b = /[\"'/]/; const c = `d ${e('f')} g`; /* h */ i / j / k;";
  assert.equal(withoutComments(text), text.replace("// z", "    ").replace("/* h */", "       "));
  const code = codeOnly(text);
  assert.equal(code.length, text.length);
  for (const word of ["const a", "const b", "e(", "i / j / k"])
    assert.ok(code.includes(word), word);
  for (const word of ["x", "y", "z", '"', "d ", " g", "h"]) assert.ok(!code.includes(word), word);
});
