import assert from "node:assert/strict";
import { test } from "node:test";
import { CallScreen } from "../../../api/commands/call/call-screen.js";
import { RecordingTerminal } from "./recording-terminal.js";

const connected = { type: "connected", agentName: "Desk", historyKey: "k", atNs: 0n } as const;

function saying(role: "user" | "assistant", text: string, isFinal: boolean) {
  return { type: "transcript", payload: { role, text, isFinal }, atNs: 1_234_000_000n } as const;
}

function screenOn(terminal: RecordingTerminal): CallScreen {
  const screen = new CallScreen(terminal);
  screen.dialled("http://127.0.0.1:1", 0n);
  screen.received(connected, undefined);
  return screen;
}

test("only the new part of a growing reply is shown, and the final reply in full", () => {
  const terminal = new RecordingTerminal();
  const screen = screenOn(terminal);
  screen.received(saying("assistant", "One.", false), undefined);
  screen.received(saying("assistant", "One. Two.", false), undefined);
  screen.received(saying("assistant", "One. Two.", true), undefined);
  screen.received(saying("assistant", "Three.", false), undefined);
  assert.deepEqual(terminal.lines.slice(1), [
    " 1.234 s  agent …     One.",
    " 1.234 s  agent …     Two.",
    " 1.234 s  agent       One. Two.",
    " 1.234 s  agent …     Three.",
  ]);
});

test("long text from others is wrapped in its column and cannot control the terminal", () => {
  const terminal = new RecordingTerminal({ columns: 44 });
  const screen = screenOn(terminal);
  screen.received(saying("user", "one two three \u001b[31mfour\nfive six", true), undefined);
  assert.deepEqual(terminal.lines.slice(-2), [
    " 1.234 s  you         one two three [31mfour",
    "                      five six",
  ]);
});

test("colours are used only on a terminal", () => {
  const plain = new RecordingTerminal();
  screenOn(plain).received(saying("user", "hello", false), undefined);
  assert.ok(!plain.output.includes("\u001b"));
  const colored = new RecordingTerminal({ isColored: true });
  screenOn(colored).received(saying("user", "hello", false), undefined);
  assert.ok(colored.output.includes("\u001b[2mhello\u001b[22m"));
});

test("nothing is shown for a call that never began", () => {
  const terminal = new RecordingTerminal();
  const screen = new CallScreen(terminal);
  screen.dialled("http://127.0.0.1:1", 0n);
  screen.received({ type: "closed", code: 4001, reason: "no", atNs: 1n }, undefined);
  assert.equal(terminal.output, "");
});
