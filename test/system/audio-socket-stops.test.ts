import assert from "node:assert/strict";
import { test } from "node:test";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { AudioSocketPhone, uuidFrame } from "./audio-socket-phone.js";
import { webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

async function startWithDoor() {
  const [port = 0] = await freePorts(1);
  const environment = { AUDIOSOCKET_PORT: String(port) };
  const server = await TestServer.start({ environment });
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  return { server, customer, port };
}

async function begin(server: TestServer, customer: Customer, port: number) {
  const url = webhookUrl(server, customer, { vendor: "audiosocket" });
  const response = await fetch(url, { method: "POST" });
  const phone = await AudioSocketPhone.connect(port);
  phone.send(uuidFrame(await response.text()));
  return phone;
}

test("a stopping server closes its connections, and does not tell the dialplan to hang up", async () => {
  const { server, customer, port } = await startWithDoor();
  const phone = await begin(server, customer, port);
  const idle = await AudioSocketPhone.connect(port);
  await phone.heard("Hello there.");
  await server.stop();
  assert.equal(await phone.closed, false);
  assert.equal(await idle.closed, false);
  await assert.rejects(AudioSocketPhone.connect(port), { code: "ECONNREFUSED" });
});

test("a stopping server lets a call in progress finish within the time limit", async () => {
  const { server, customer, port } = await startWithDoor();
  const phone = await begin(server, customer, port);
  await phone.heard("Hello there.");
  const stopped = server.stop(60_000);
  phone.say("say thank you");
  await phone.heard("thank you");
  phone.hangUp();
  await stopped;
});

test("a server stops even if the other side neither reads nor closes", async () => {
  const { server, customer, port } = await startWithDoor();
  const phone = await begin(server, customer, port);
  await phone.heard("Hello there.");
  phone.socket.pause();
  await server.stop();
  phone.socket.destroy();
});

test("without a port, calls of this vendor are refused", async () => {
  const server = await TestServer.start();
  try {
    const customer = await server.customer();
    await server.agent(customer);
    const url = webhookUrl(server, customer, { vendor: "audiosocket" });
    const response = await fetch(url, { method: "POST" });
    assert.equal(response.status, 503);
    assert.match(await response.text(), /AUDIOSOCKET_PORT/);
  } finally {
    await server.stop();
  }
});
