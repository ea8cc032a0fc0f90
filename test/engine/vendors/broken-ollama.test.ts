import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SystemClock } from "../../../engine/time/clock.js";
import { languageModel } from "../../../engine/vendors/registry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { never } from "./sandboxed-vendors.js";
import { ScriptedWebServer } from "./scripted-web-server.js";

const clock = new SystemClock();
const connections = new Connections({ clock, allowPrivateAddresses: true });
const server = new ScriptedWebServer();
before(() => server.start());
after(async () => {
  await connections.close();
  await server.close();
});

const line = (content: string, done: boolean) => JSON.stringify({ message: { content }, done });

/** What is heard of an answer whose last line has no end. */
async function heard(body: string) {
  server.answer = (response) => response.end(body);
  const given = { apiKey: "", baseUrl: server.url, settings: {}, clientOwned: false };
  const model = languageModel("ollama", given, { clock, connections });
  const messages = [{ role: "user", content: "Hi" }] as const;
  const request = { modelId: "m", messages, temperature: 0, maxTokens: 9 };
  let text = "";
  const take = (token: string) => {
    text += token;
  };
  const fault = await model.complete(request, take, never()).then(
    () => undefined,
    (error) => error.fault,
  );
  return { text, fault };
}

test("the end of Ollama's answer counts without the end of its line, and what broke off does not", async () => {
  const begun = `${line("Hel", false)}\n`;
  assert.deepEqual(await heard(`${begun}${line("lo", true)}`), { text: "Hello", fault: undefined });
  const broken = { text: "Hel", fault: "disconnected" };
  assert.deepEqual(await heard(`${begun}${line("lo", false)}`), broken);
  assert.deepEqual(await heard(`${begun}{"message":{"con`), broken);
  assert.deepEqual(await heard(begun), broken);
});
