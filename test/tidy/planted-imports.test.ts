import assert from "node:assert/strict";
import { test } from "node:test";
import { engineStairs } from "./engine-stairs.js";
import {
  builtinPrefix,
  importDirection,
  noImportCircle,
  ownedPackages,
  sandboxStaysOutside,
  transitionIsPure,
} from "./import-rules.js";
import { check } from "./planted.js";
import { describeFault } from "./source-file.js";

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
      ["storage/a.ts", 'import {\n  a,\n  type B,\n} from "../engine/request-error.js";'],
      ["storage/a.ts", 'const a = await import("../engine/request-error.js");'],
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
      ["engine/conversation/a.ts", 'import type { B } from "../calls/b.js";'],
      ["engine/conversation/a.ts", 'import { b } from "../telephony/b.js";'],
      ["engine/tenancy/a.ts", 'import { b } from "../conversation/b.js";'],
      ["engine/vendors/contracts.ts", 'import { b } from "../conversation/b.js";'],
      ["engine/vendors/groq/a.ts", 'import { b } from "../openai/b.js";'],
      ["engine/vendors/transport/a.ts", 'import { b } from "../edge/b.js";'],
      ["engine/sandbox/a.ts", 'import { b } from "../audio/b.js";'],
      ["engine/new/a.ts", 'import { b } from "./b.js";'],
      ["engine/stray.ts", "const a = 1;"],
    ],
    [
      ["engine/calls/a.ts", 'import { b } from "../conversation/b.js";'],
      ["engine/conversation/a.ts", 'import type { B } from "../../storage/records.js";'],
      ["engine/vendors/groq/a.ts", 'import { b } from "../chat-completions/b.js";'],
      ["engine/vendors/registry.ts", 'import { b } from "./edge/b.js";'],
      ["engine/telephony/telnyx/a.ts", 'import { b } from "../twilio/twiml.js";'],
      ["engine/tenancy/a.ts", 'import { RequestError } from "../request-error.js";'],
      ["engine/request-error.ts", "const a = 1;"],
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
      ["api/voice/a.ts", 'import { WebSocket } from "ws";'],
      ["engine/conversation/a.ts", 'import { Piscina } from "piscina";'],
      ["api/routes/a.ts", 'import { toJsonSchema } from "@valibot/to-json-schema";'],
      ["api/http/a.ts", 'import { Counter } from "prom-client";'],
      ["engine/calls/a.ts", 'import { pino } from "pino";'],
      ["engine/conversation/a.ts", 'import { MPEGDecoder } from "mpg123-decoder";'],
      ["engine/calls/a.ts", 'import * as fc from "fast-check";'],
    ],
    [
      ["api/http/backend/uws-backend.ts", 'import { App } from "uWebSockets.js";'],
      ["api/http/backend/node-backend.ts", 'import { WebSocketServer } from "ws";'],
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
      ["engine/conversation/a.ts", text],
      ["api/voice/a.ts", 'import type { A } from "../../engine/sandbox/a.js";'],
    ],
    [
      [
        "parley.ts",
        'import { startSandboxThread } from "./engine/sandbox/start-sandbox-thread.js";',
      ],
      ["engine/sandbox/a.ts", 'import { a } from "./sandbox.js";'],
    ],
  );
});

test("a transition that is not pure, however far away the reason is", () => {
  const transition = {
    path: "engine/conversation/conversation.ts",
    text: 'import { a } from "./turn.js";',
  };
  const turnWith = (text: string) =>
    transitionIsPure([transition, { path: "engine/conversation/turn.ts", text }]);
  const wrong = [
    'import { SystemClock } from "../time/clock.js";',
    'import * as v from "valibot";',
    'import { VendorError } from "../vendors/contracts.js";',
    "export const now = () => Date.now();",
    "export async function later() {}",
  ];
  for (const text of wrong) {
    assert.equal(turnWith(text)[0]?.path, "engine/conversation/turn.ts", text);
  }
  const right = [
    'import type { VendorFault } from "../vendors/contracts.js";',
    'import { type Persona } from "../../storage/records.js";',
    'import { splitToken } from "./sentences.js";\n// Date.now() is not used',
    'export const note = "await";',
  ];
  for (const text of right) assert.deepEqual(turnWith(text), [], text);
  const actor = { path: "engine/conversation/actor.ts", text: "await Promise.resolve();" };
  assert.deepEqual(transitionIsPure([transition, actor]), []);
});

test("a circle of imports, also of types, and between a page and what it shows", () => {
  const found = (...files: readonly (readonly [path: string, text: string])[]) =>
    noImportCircle(files.map(([path, text]) => ({ path, text }))).map(describeFault);
  const above = ["engine/a.ts", 'import { b } from "./b.js";'] as const;
  const below = ["engine/d.ts", "export const d = 1;"] as const;
  const rest = 'import type { C } from "./c.js";\nimport { d } from "./d.js";';
  assert.deepEqual(
    found(above, ["engine/b.ts", rest], ["engine/c.ts", 'export { b } from "./b.js";'], below),
    [
      "engine/b.ts:1 imports engine/c.ts in a circle",
      "engine/c.ts:1 imports engine/b.ts in a circle",
    ],
  );
  assert.deepEqual(
    found(
      ["api/console/a.tsx", 'import { b } from "./b.js";'],
      ["api/console/b.ts", 'import type { A } from "./a.js";'],
    ).length,
    2,
  );
  assert.deepEqual(found(above, ["engine/b.ts", rest], ["engine/c.ts", ""], below), []);
  const double = 'import { a } from "./other.js";';
  assert.deepEqual(found(["test/a.ts", double], ["test/other.ts", 'import "./a.js";']), []);
});
