import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { openBackend } from "../../../../api/http/backend/open-backend.js";
import { parseConfig } from "../../../../config.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { HAS_UWS_BINARY } from "./both-fronts.js";

const OPEN_FRONT = new URL("../../../../api/http/backend/open-backend.js", import.meta.url).href;

test("uWebSockets.js is used if it has a binary, otherwise node:http with a warning", async () => {
  const log = new RecordingLogger();
  const front = await openBackend("auto", log);
  assert.equal(front.name, HAS_UWS_BINARY ? "uws" : "node");
  assert.equal(log.ofLevel("warn").length, HAS_UWS_BINARY ? 0 : 1);
});

test("node:http is used on request", async () => {
  const log = new RecordingLogger();
  assert.equal((await openBackend("node", log)).name, "node");
  assert.deepEqual(log.lines, []);
});

/** Runs in a process of its own: a module that failed to load is not loaded again. */
function openWithoutBinary(choice: string): string {
  const script = `
    Object.defineProperty(process, "arch", { value: "elsewhere" });
    const { openBackend } = await import(${JSON.stringify(OPEN_FRONT)});
    const log = { warn: (fields, message) => console.log("warn:", message) };
    try {
      console.log((await openBackend(${JSON.stringify(choice)}, log)).name);
    } catch (error) {
      console.log(error.name, error.message);
    }`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", script]).toString();
}

test("without a binary, `auto` selects node:http, and `uws` fails with advice", () => {
  assert.match(openWithoutBinary("auto"), /^warn: uWebSockets\.js does not load here.*\nnode\n$/);
  assert.match(
    openWithoutBinary("uws"),
    /^BackendUnavailableError HTTP_BACKEND=uws: .* on Node v.* elsewhere; use .*HTTP_BACKEND=node\n$/,
  );
});

test("HTTP_BACKEND accepts auto, uws or node", () => {
  assert.equal(parseConfig({}).httpBackend, "auto");
  assert.equal(parseConfig({ HTTP_BACKEND: "node" }).httpBackend, "node");
  assert.throws(
    () => parseConfig({ HTTP_BACKEND: "express" }),
    /HTTP_BACKEND: expected auto, uws or node/,
  );
});
