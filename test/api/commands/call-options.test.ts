import assert from "node:assert/strict";
import { test } from "node:test";
import { readCallOptions } from "../../../api/commands/call/call-options.js";
import { UsageError } from "../../../api/commands/command-error.js";

test("texts and interruptions are performed in the given order", () => {
  const { steps } = readCallOptions([
    "--text",
    " one ",
    "--interrupt",
    "two",
    "--key",
    "k",
    "--text=three",
  ]);
  assert.deepEqual(steps, [
    { kind: "say", text: "one" },
    { kind: "interrupt", text: "two" },
    { kind: "say", text: "three" },
  ]);
});

test("without texts the call has three turns with an interruption", () => {
  const kinds = readCallOptions([]).steps.map(({ kind }) => kind);
  assert.deepEqual(kinds, ["say", "say", "interrupt"]);
  assert.deepEqual(readCallOptions(["--interactive"]).steps, []);
});

test("contradictory options are refused before a call is made", () => {
  const wrong: readonly (readonly [args: readonly string[], reason: RegExp])[] = [
    [["--text", "  "], /may not be empty/],
    [["--text"], /--text/],
    [["--wrong"], /--wrong/],
    [["stray"], /stray/],
    [["--quiet", "--json"], /either --quiet or --json/],
    [["--url", "127.0.0.1:8080"], /expected an address/],
    [["--url", "ftp://127.0.0.1"], /expected an address/],
    [["--placed"], /--placed needs --phone/],
    [["--phone", "--to", "+15550101000"], /--to needs --phone --placed/],
    [["--phone", "--placed", "--to", "5550101000"], /--to: expected a number/],
    [["--phone", "--session", "k"], /leave out --session/],
    [["--phone", "--stream"], /--stream is for web calls/],
  ];
  for (const [args, message] of wrong) {
    assert.throws(() => readCallOptions(args), { name: UsageError.name, message });
  }
});

test("the maximum number of texts for one call is accepted, and no more", () => {
  const longest = "x".repeat(1000);
  assert.equal(readCallOptions(["--text", longest]).steps[0]?.text, longest);
  assert.throws(() => readCallOptions(["--text", `${longest}x`]), { message: /at most 1000/ });
  const most = Array.from({ length: 200 }, () => "--text=a");
  assert.equal(readCallOptions(most).steps.length, 200);
  assert.throws(() => readCallOptions([...most, "--text=a"]), { message: /at most 200/ });
});
