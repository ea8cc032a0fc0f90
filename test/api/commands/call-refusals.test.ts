import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { WebSocket } from "ws";
import { callCommand } from "../../../api/commands/call/call-command.js";
import { ran } from "./recording-terminal.js";
import { greet, ScriptedService, tell } from "./scripted-service.js";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-refused-"));
});
after(() => rm(folder, { recursive: true }));

/** Needed only in tests in which the service is silent on purpose. */
const IMPATIENT_MS = 300;
const PATIENT_MS = 60_000;

function call(...args: readonly string[]) {
  return callFor(PATIENT_MS, ...args);
}

function callFor(replyTimeoutMs: number, ...args: readonly string[]) {
  const readSettings = () => ({ dataDir: folder, port: 8080 });
  return ran(callCommand({ readSettings, replyTimeoutMs }), ...args);
}

async function callOn(
  script: (socket: WebSocket) => void,
  args: readonly string[] = ["--text", "Hi."],
  replyTimeoutMs = PATIENT_MS,
) {
  const service = await ScriptedService.start(script);
  try {
    return await callFor(replyTimeoutMs, "--url", service.url, "--key", "vk_x", ...args);
  } finally {
    await service.close();
  }
}

describe("a refused call is explained in one line", { concurrency: true }, () => {
  const refusals: readonly (readonly [code: number, explanation: RegExp])[] = [
    [4001, /^the API key was not accepted \(close code 4001\): because\. Give another/],
    [4003, /^the agent uses a model that the organization's plan does not include .*org plan/],
    [4004, /^a provider that the agent needs is missing or not active \(close code 4004\)/],
    [4005, /^there is no such agent, or it is not active \(close code 4005\)/],
    [4029, /^a limit is reached \(close code 4029\): because\. Wait a minute/],
    [1011, /^the service or one of its vendors failed \(close code 1011\)/],
    [1012, /^the server is stopping \(close code 1012\)/],
    [1013, /^the service is overloaded/],
    [4999, /^the service ended the call \(close code 4999\): because\.\n$/],
  ];
  for (const [code, explanation] of refusals) {
    test(`close code ${code}`, async () => {
      const { exitCode, output, errors } = await callOn((socket) => {
        tell(socket, { type: "error", payload: { message: "because" } });
        socket.close(code, "because");
      });
      assert.equal(exitCode, 1);
      assert.equal(output, "");
      assert.match(errors, explanation);
      assert.equal(errors.split("\n").length, 2);
    });
  }
});

describe("without a service", { concurrency: true }, () => {
  test("the command says how to start one", async () => {
    const service = await ScriptedService.start(() => {});
    const { url } = service;
    await service.close();
    const { exitCode, errors } = await call("--url", url, "--key", "vk_x", "--text", "Hi.");
    assert.equal(exitCode, 1);
    assert.match(errors, /^no server listens at .*: npm start\n$/);
  });

  test("another server is distinguished from a Parley server", async () => {
    const stranger = createServer((_request, response) => response.writeHead(404).end());
    await once(stranger.listen(0, "127.0.0.1"), "listening");
    const address = stranger.address();
    assert.ok(address !== null && typeof address === "object");
    const url = `http://127.0.0.1:${address.port}`;
    const { errors } = await call("--url", url, "--key", "vk_x", "--text", "Hi.");
    stranger.closeAllConnections();
    stranger.close();
    assert.match(
      errors,
      /^the program that answers at .* is not a Parley server, .*\(status 404\)\n$/,
    );
  });
});

describe("a call that goes wrong", { concurrency: true }, () => {
  test("ends when the agent stays silent", async () => {
    const { exitCode, errors } = await callOn(greet, undefined, IMPATIENT_MS);
    assert.equal(exitCode, 1);
    assert.match(errors, /^the agent was silent for .* s; the call was ended\n$/);
  });

  test("fails when no reply was heard", async () => {
    const { exitCode, errors, output } = await callOn((socket) => {
      greet(socket);
      tell(socket, { type: "audioEnd" });
      whenSpoken(socket, () => tell(socket, { type: "audioEnd" }));
    });
    assert.equal(exitCode, 1);
    assert.equal(errors, "no reply was heard\n");
    assert.match(output, /^ +1 {2}Hi\. +- {2}-$/m);
  });

  test("still shows its turns when the service ends it", async () => {
    const { exitCode, errors, output } = await callOn(
      (socket) => {
        greet(socket);
        tell(socket, { type: "audioEnd" });
        whenSpoken(socket, () => socket.close(1012, "the server is restarting"));
      },
      ["--text", "Hi.", "--text", "Are you there?"],
    );
    assert.equal(exitCode, 1);
    assert.match(errors, /^the server is stopping \(close code 1012\)/);
    assert.match(output, /closed +1012 the server is restarting$/m);
    assert.match(output, /^ +1 {2}Hi\. .* cut off$/m);
  });

  test("ends with a message when the connection breaks", async () => {
    const { exitCode, errors } = await callOn((socket) => {
      greet(socket);
      tell(socket, { type: "audioEnd" });
      whenSpoken(socket, () => socket.terminate());
    });
    assert.equal(exitCode, 1);
    assert.match(errors, /^the connection was lost/);
  });

  test("begins only if its audio can be saved", async () => {
    const { exitCode, errors } = await call(
      "--key",
      "vk_x",
      "--text",
      "Hi.",
      "--save",
      join(folder, "none", "a.mp3"),
    );
    assert.equal(exitCode, 1);
    assert.match(errors, /^--save: nothing can be written into .*none\b/);
  });
});

test("without a key and without a demo organization, the command says where to get a key", async () => {
  const missing = await call("--text", "Hi.");
  assert.equal(missing.exitCode, 1);
  assert.match(missing.errors, /has no demo organization: start the server once/);
  await writeFile(join(folder, "demo.json"), "{");
  const broken = await call("--text", "Hi.");
  assert.equal(broken.exitCode, 1);
  assert.match(broken.errors, /^demo\.json in .* cannot be read; give a key with --key\n$/);
});

/** Runs the action whenever the caller's words are followed by silence. */
function whenSpoken(socket: WebSocket, action: () => void): void {
  let hasSpoken = false;
  socket.on("message", (frame: Buffer) => {
    const isSilent = frame.every((byte) => byte === 0);
    if (!isSilent) hasSpoken = true;
    else if (hasSpoken) {
      hasSpoken = false;
      action();
    }
  });
}
