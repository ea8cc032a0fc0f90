import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const TERMINAL = import.meta.resolve("../../../api/commands/terminal.js");

test("a command whose output is closed ends immediately, without a message", async () => {
  const program = `
    const { processTerminal } = await import(${JSON.stringify(TERMINAL)});
    const terminal = processTerminal();
    terminal.print("seen");
    process.stdin.once("data", () => setInterval(() => terminal.print("unseen"), 1));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    env: { PATH: process.env["PATH"] },
  });
  const complaints = text(child.stderr);
  await once(child.stdout, "data");
  child.stdout.destroy();
  child.stdin.write("on");
  const [code] = await once(child, "exit");
  assert.deepEqual([await complaints, code], ["", 141]);
});
