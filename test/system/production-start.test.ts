import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { VERSION } from "../../engine/version.js";

const MAIN = fileURLToPath(new URL("../../main.js", import.meta.url));

test("a production server logs only JSON: its address, its configured vendors and what is missing", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-production-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      HOST: "127.0.0.1",
      PORT: "0",
      DATA_DIR: dataDir,
      JWT_SECRET: "j".repeat(32),
      ENCRYPTION_KEY: "5a".repeat(32),
      OPENAI_API_KEY: "a-secret-of-the-operator",
      TWILIO_AUTH_TOKEN: "another-secret",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on("line", (line) => {
    lines.push(line);
    if (line.includes("not set: SIGNALWIRE")) child.kill("SIGTERM");
  });
  await once(output, "close");
  // If uWebSockets.js has no binary for this Node, a warning comes first.
  const told = lines
    .map((line) => Object(JSON.parse(line)))
    .filter(({ msg }) => !msg.startsWith("uWebSockets.js does not load here"));
  const [first] = told;
  assert.match(first.msg, new RegExp(`^Parley ${VERSION} listens on http://127\\.0\\.0\\.1:\\d+$`));
  assert.deepEqual(first.vendors, { llm: "openai, ollama", tts: "openai, edge", stt: "none" });
  assert.deepEqual([first.version, first.sandbox, first.dataDir], [VERSION, "off", dataDir]);
  const [, recognizer] = told;
  assert.equal(recognizer.level, "warn");
  assert.match(recognizer.msg, /^no STT is configured/);
  assert.equal(told.at(-1).msg, "stopped");
  assert.doesNotMatch(lines.join("\n"), /secret/);
});
