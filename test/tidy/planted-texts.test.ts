import assert from "node:assert/strict";
import { test } from "node:test";
import { check, type Planted } from "./planted.js";
import { codeOnly, withoutComments } from "./source-file.js";
import {
  bannedTexts,
  fileNames,
  listenersTakenOff,
  timeAndChance,
  wakefulTests,
  wholeTests,
} from "./text-rules.js";
import { topLevel } from "./tree-rules.js";

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
    "engine/conversation/sentences.ts",
    "storage/sqlite/001-first.ts",
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
      ["engine/a.ts", ["/** ", "Of MP3. */"].join("")],
      ["engine/a.ts", ["/**\n * ", "Of the first frame, when there is one.\n */"].join("")],
      ["test/a.ts", ["// ", "Of the calls that are left."].join("")],
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
      ["api/commands/a.ts", "console.log(1);"],
      ["test/a.ts", `const key = "${"0f".repeat(32)}";`],
      ["engine/a.ts", "/** The bit rate. Of MP3, in kbit/s: `// of` and `Of`. */"],
      ["engine/a.ts", "// See the standard, section default export rules.\nexport const a = 1;"],
      [
        "engine/a.ts",
        ["// oxlint", "disable-next-line no-shadow -- the wire's own name"].join("-"),
      ],
    ],
  );
});

test("listeners that stay on a signal", () => {
  const listens = 'signal.addEventListener("abort", leave, { once: true });';
  check(
    listenersTakenOff,
    [["engine/a.ts", listens]],
    [
      ["engine/a.ts", `${listens}\nsignal.removeEventListener("abort", leave);`],
      ["engine/a.ts", 'socket.addEventListener("message", take);'],
      ["bench/a.ts", listens],
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

test("comments and strings are distinguished from code", () => {
  const text =
    "const a = 'x // y'; // z\nconst b = /[\"'/]/; const c = `d ${e('f')} g`; /* h */ i / j / k;";
  assert.equal(withoutComments(text), text.replace("// z", "    ").replace("/* h */", "       "));
  const code = codeOnly(text);
  assert.equal(code.length, text.length);
  for (const word of ["const a", "const b", "e(", "i / j / k"])
    assert.ok(code.includes(word), word);
  for (const word of ["x", "y", "z", '"', "d ", " g", "h"]) assert.ok(!code.includes(word), word);
});
