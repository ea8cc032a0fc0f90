import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { PCM_24K } from "../../../../engine/audio/audio-format.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import { textToSpeech } from "../../../../engine/vendors/registry.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedSocketServer } from "../scripted-socket-server.js";

const asked = v.pipe(v.string(), v.parseJson(), v.object({ context_id: v.string() }));

test("Cartesia's messages about another sentence are ignored in this one", async (context) => {
  const server = new ScriptedSocketServer();
  await server.start();
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  context.after(async () => {
    await connections.close();
    await server.close();
  });
  const baseUrl = server.url.replace("ws:", "http:");
  const given = { baseUrl, apiKey: "key", settings: {}, clientOwned: false };
  const speech = textToSpeech("cartesia", given, { clock, connections });
  const heard: Uint8Array[] = [];
  const request = { text: "Hi.", modelId: "m", speed: 1, language: "en", format: PCM_24K } as const;
  const spoken = speech.synthesize(request, (audio) => heard.push(audio), never());
  const { socket, texts } = await server.peer(0);
  const { context_id } = v.parse(asked, await server.changes.until("the sentence", () => texts[0]));
  const say = (message: object) => socket.send(JSON.stringify(message));
  const chunk = (bytes: number[]) => ({
    type: "chunk",
    data: Buffer.from(bytes).toString("base64"),
  });
  say({ ...chunk([1, 1]), context_id: "another" });
  say({ type: "error", status_code: 500, context_id: "another" });
  say({ type: "done", context_id: "another" });
  say({ ...chunk([2, 2]), context_id });
  say({ type: "done", context_id });
  await spoken;
  assert.deepEqual(Buffer.concat(heard), Buffer.of(2, 2));
});
