import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { CallError } from "../../../api/client/call-error.js";
import { OwnSound } from "../../../api/client/own-sound.js";
import { connected, stand } from "./call-stand.js";
import { ClientSocket } from "./client-socket.js";

beforeEach(() => ClientSocket.forgetAll());

test("an expired token is reported as such, and ends the call", async () => {
  const { clock, told } = await connected({ token: "used" });
  ClientSocket.last.breakOff();
  clock.advance(1_000);
  await Promise.resolve();
  await Promise.resolve();
  ClientSocket.last.say({ type: "error", payload: { message: "the token is old" } });
  ClientSocket.last.breakOff(4001, "the token is old");
  assert.equal(told("fault").at(-1)?.code, "tokenEnded");
  assert.match(told("fault").at(-1)?.message ?? "", /Start a new call\.$/);
  assert.equal(told("ended")[0]?.code, 4001);
});

test("after 30 seconds of retries the call ends with the reason", async () => {
  const { clock, told } = await connected();
  for (let step = 0; step < 40 && told("ended").length === 0; step += 1) {
    ClientSocket.last.breakOff();
    clock.advance(1_000);
    await Promise.resolve();
    await Promise.resolve();
  }
  assert.deepEqual(told("ended"), [{ code: 1006, reason: "" }]);
  assert.deepEqual(
    told("fault").map(({ code }) => code),
    ["connectionLost", "cannotConnect"],
  );
  assert.ok(ClientSocket.opened.length > 8 && ClientSocket.opened.length < 20);
});

test("a connection that breaks each time is not retried forever", async () => {
  const { clock, told } = await connected();
  for (let step = 0; step < 60 && told("ended").length === 0; step += 1) {
    ClientSocket.last.breakOff(1011, "the vendor failed");
    clock.advance(4_000);
    await Promise.resolve();
    await Promise.resolve();
    if (told("ended").length === 0) ClientSocket.last.accept();
  }
  assert.deepEqual(told("ended"), [{ code: 1011, reason: "the vendor failed" }]);
});

test("a fault that a retry cannot fix ends the call immediately, with its reason", async () => {
  for (const code of [1008, 4001, 4003, 4004, 4005, 4029]) {
    const { told } = await connected();
    ClientSocket.last.breakOff(code, "not for you");
    assert.deepEqual(told("ended"), [{ code, reason: "not for you" }]);
    assert.deepEqual(
      told("fault").map((fault) => fault.message),
      ["not for you"],
    );
  }
});

test("audio that cannot be opened ends the call before it begins", async () => {
  const sound = new OwnSound({ onAudio: () => {} });
  sound.open = () => Promise.reject(new CallError("microphoneDenied", "not allowed"));
  const { call, told } = stand({ sound });
  await assert.rejects(call.start(), { code: "microphoneDenied" });
  assert.equal(ClientSocket.opened.length, 0);
  assert.equal(call.state, "ended");
  assert.equal(told("fault")[0]?.code, "microphoneDenied");
});

test("a caller who hangs up during the microphone prompt gets no fault", async () => {
  const sound = new OwnSound({ onAudio: () => {} });
  let refuse: (fault: CallError) => void = () => {};
  sound.open = () => new Promise((_, reject) => (refuse = reject));
  const { call, told } = stand({ sound });
  const started = call.start();
  call.hangUp();
  refuse(new CallError("microphoneDenied", "not allowed"));
  await started;
  assert.deepEqual(told("fault"), []);
  assert.equal(told("ended").length, 1);
});

test("a page's token that never arrives ends the call and closes the microphone after 15 seconds", async () => {
  const { call, clock, sound, told } = stand({ token: () => new Promise<string>(() => {}) });
  const started = call.start();
  await new Promise(setImmediate);
  clock.advance(15_000);
  await started;
  assert.deepEqual([call.state, ClientSocket.opened.length], ["ended", 0]);
  assert.deepEqual(
    told("fault").map(({ code }) => code),
    ["tokenFailed"],
  );
  assert.throws(() => sound.write(new Int16Array(320)), { code: "soundFailed" });
});

test("a token that never arrives during a reconnect does not block the call forever", async () => {
  const tokens = ["first"];
  const token = () => tokens.shift() ?? new Promise<string>(() => {});
  const { clock, told } = await connected({ token });
  ClientSocket.last.breakOff();
  for (let step = 0; step < 60 && told("ended").length === 0; step += 1) {
    clock.advance(1_000);
    await new Promise(setImmediate);
  }
  assert.equal(told("ended").length, 1);
  assert.equal(told("fault").at(-1)?.code, "tokenFailed");
});

test("a connection that this page may not open ends the call and closes the microphone", async () => {
  ClientSocket.isRefused = true;
  const { call, sound, told } = stand();
  await assert.rejects(call.start(), { code: "protocol" });
  assert.equal(call.state, "ended");
  assert.equal(told("fault").length, 1);
  assert.throws(() => sound.write(new Int16Array(320)), { code: "soundFailed" });
});

test("a server address without its scheme is reported before the microphone prompt", async () => {
  const sound = new OwnSound({ onAudio: () => {} });
  sound.open = () => Promise.reject(new CallError("microphoneDenied", "not allowed"));
  for (const server of ["voice.example.com", "localhost:8080"]) {
    const { call } = stand({ sound, server });
    await assert.rejects(call.start(), { code: "protocol", message: /like https:\/\/voice/ });
  }
});

test("a connection that may not be reopened ends the call, too", async () => {
  const { clock, told } = await connected();
  ClientSocket.isRefused = true;
  ClientSocket.last.breakOff();
  clock.advance(1_000);
  await new Promise(setImmediate);
  assert.deepEqual(
    told("fault").map(({ code }) => code),
    ["connectionLost", "protocol"],
  );
  assert.equal(told("ended").length, 1);
});

test("a caller who hangs up gets one end event, and no later events", async () => {
  const { call, told } = await connected();
  const socket = ClientSocket.last;
  call.hangUp();
  call.hangUp();
  socket.breakOff(1000);
  socket.transcript("user", "too late", true);
  assert.equal(socket.closedWith, 1000);
  assert.equal(told("ended").length, 1);
  assert.deepEqual(told("words"), []);
});
