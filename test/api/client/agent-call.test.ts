import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { AgentCall, type AgentCallOptions } from "../../../api/client/agent-call.js";
import type { CallEvents } from "../../../api/client/call-events.js";
import { CallFault } from "../../../api/client/call-fault.js";
import { OwnSound } from "../../../api/client/own-sound.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { ClientSocket } from "./client-socket.js";

beforeEach(() => {
  ClientSocket.opened.splice(0);
  ClientSocket.isRefused = false;
});

const NAMES = ["state", "connected", "words", "turn", "wait", "fault", "mended", "ended"] as const;

interface Stand {
  readonly call: AgentCall;
  readonly clock: VirtualClock;
  readonly sound: OwnSound;
  readonly stops: () => number;
  /** Every event of that name so far. */
  readonly told: <Name extends keyof CallEvents>(name: Name) => CallEvents[Name][];
}

function stand(options: Partial<AgentCallOptions> = {}): Stand {
  const clock = new VirtualClock();
  let stops = 0;
  const sound = new OwnSound({ onAudio: () => {}, onStop: () => (stops += 1) });
  const server = "https://voice.example.com";
  const own = { server, sound, clock, WebSocket: ClientSocket, chance: () => 0 };
  const call = new AgentCall({ ...own, ...options });
  const events: { name: keyof CallEvents; event: unknown }[] = [];
  for (const name of NAMES) call.on(name, (event) => events.push({ name, event }));
  const told = <Name extends keyof CallEvents>(name: Name) =>
    events.filter((each) => each.name === name).map(({ event }) => event as CallEvents[Name]);
  return { call, clock, sound, stops: () => stops, told };
}

async function connected(options: Partial<AgentCallOptions> = {}): Promise<Stand> {
  const made = stand(options);
  await made.call.start();
  ClientSocket.last.accept();
  return made;
}

test("the address says what is asked for, and nothing that was not given", async () => {
  const { call } = stand({ agentId: "a 1", token: () => Promise.resolve("t&2") });
  await call.start();
  assert.equal(
    ClientSocket.last.address.href,
    "wss://voice.example.com/ws/voice?audio=stream&encoding=pcm24k&agent_id=a+1&token=t%262",
  );
});

test("frames are sent as they are, and as silence while muted", async () => {
  const { call, sound } = await connected();
  sound.write(Int16Array.of(1, -1));
  call.setMuted(true);
  sound.write(Int16Array.of(1, -1));
  assert.deepEqual(ClientSocket.last.sent, [
    Uint8Array.of(1, 0, 255, 255),
    Uint8Array.of(0, 0, 0, 0),
  ]);
});

test("words, turns and waits are told as a page wants to show them", async () => {
  const { call, clock, sound, told } = await connected();
  const socket = ClientSocket.last;
  sound.write(new Int16Array(320).fill(8_000));
  clock.advance(300);
  socket.transcript("user", "Hello", false);
  clock.advance(100);
  socket.transcript("user", "Hello there.", true);
  assert.equal(call.state, "thinking");
  clock.advance(400);
  socket.transcript("assistant", "Good day.", false);
  socket.say({ type: "audioStart", turnId: 1, encoding: "pcm24k", sampleRateHz: 24_000 });
  socket.sendAudio(2_400);
  assert.equal(call.state, "speaking");
  sound.report(1, 100);
  assert.equal(socket.sent.at(-1), '{"type":"played","turnId":1,"ms":100}');
  socket.transcript("assistant", "Good day.", true);
  socket.say({ type: "audioEnd" });
  assert.equal(call.state, "listening");
  const words = told("words").map(({ id, kind, text }) => [id, kind, text]);
  assert.deepEqual(words, [
    [1, "guess", "Hello"],
    [1, "final", "Hello there."],
    [2, "said", "Good day."],
    [2, "heard", "Good day."],
  ]);
  const waits = [{ turn: 1, sinceVoiceMs: 800, sinceWordsMs: 400, sinceAudioMs: 0 }];
  assert.deepEqual(told("wait"), waits);
  assert.deepEqual(
    told("turn").map(({ phase }) => phase),
    ["begun", "finished"],
  );
});

test("after an interruption the words that nobody heard are told apart", async () => {
  const { stops, told } = await connected();
  const socket = ClientSocket.last;
  socket.transcript("assistant", "One. Two. Three.", false);
  socket.say({ type: "audioStart", turnId: 1, encoding: "pcm24k", sampleRateHz: 24_000 });
  socket.sendAudio(2_400);
  socket.say({ type: "audioStop" });
  socket.transcript("assistant", "One. Two.", true);
  assert.equal(stops(), 1);
  const last = told("words").at(-1);
  assert.deepEqual([last?.kind, last?.text, last?.unheard], ["heard", "One. Two.", "Three."]);
  assert.equal(told("turn").at(-1)?.phase, "interrupted");
});

test("a reply of which nothing was heard is struck out whole when the next begins", async () => {
  const { told } = await connected();
  const socket = ClientSocket.last;
  socket.transcript("assistant", "Never heard.", false);
  socket.say({ type: "audioStop" });
  socket.transcript("assistant", "Another one.", false);
  const [, settled, next] = told("words");
  assert.deepEqual([settled?.id, settled?.text, settled?.unheard], [1, "", "Never heard."]);
  assert.deepEqual([next?.id, next?.text], [2, "Another one."]);
});

test("a connection that breaks is made anew, into the same conversation, with a new token", async () => {
  let tokens = 0;
  const { call, clock, told } = await connected({ token: () => `token-${++tokens}` });
  ClientSocket.last.say({ type: "audioStart", turnId: 7, sampleRateHz: 24_000 });
  ClientSocket.last.breakOff();
  assert.equal(call.state, "reconnecting");
  clock.advance(1_000);
  await new Promise(setImmediate);
  const { searchParams } = ClientSocket.last.address;
  assert.equal(searchParams.get("session_id"), "key-1");
  assert.equal(searchParams.get("token"), "token-2");
  ClientSocket.last.accept();
  assert.deepEqual(
    told("connected").map(({ isAgain }) => isAgain),
    [false, true],
  );
  ClientSocket.last.say({ type: "audioStart", turnId: 1, sampleRateHz: 24_000 });
  assert.deepEqual(
    told("turn").map(({ turn, phase }) => `${turn} ${phase}`),
    ["1 begun", "1 interrupted", "2 begun"],
  );
  assert.equal(call.state, "listening");
});

test("a line that comes back mends what was told of it", async () => {
  const { clock, told } = await connected();
  ClientSocket.last.breakOff();
  assert.deepEqual(told("mended"), []);
  clock.advance(1_000);
  await Promise.resolve();
  await Promise.resolve();
  ClientSocket.last.accept();
  assert.deepEqual(told("mended"), ["connectionLost"]);
});

test("a token that ended meanwhile is told as that, and as the call's end", async () => {
  const { clock, told } = await connected({ token: "used" });
  ClientSocket.last.breakOff();
  clock.advance(1_000);
  await Promise.resolve();
  await Promise.resolve();
  ClientSocket.last.say({ type: "error", payload: { message: "the token is old" } });
  ClientSocket.last.breakOff(4001, "the token is old");
  assert.equal(told("fault").at(-1)?.code, "tokenEnded");
  assert.match(told("fault").at(-1)?.message ?? "", /Begin a new call\.$/);
  assert.equal(told("ended")[0]?.code, 4001);
});

test("written words are sent while there is a connection, and only then", async () => {
  const { call, clock } = await connected();
  const socket = ClientSocket.last;
  assert.equal(call.write(" My name is Ada. "), true);
  assert.equal(socket.sent.at(-1), '{"type":"written","text":"My name is Ada."}');
  assert.equal(call.write("  "), false);
  socket.breakOff();
  assert.equal(call.write("Is anybody there?"), false);
  clock.advance(1_000);
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(call.write("Not yet"), false);
  ClientSocket.last.accept();
  assert.equal(call.write("Now"), true);
  call.hangUp();
  assert.equal(call.write("Too late"), false);
});

test("after 30 seconds of trying the call is given up, and says so", async () => {
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

test("a connection that breaks each time it is made is not made anew for ever", async () => {
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

test("what cannot be mended by trying again ends the call at once, with its reason", async () => {
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

test("a line that takes nothing for two seconds is broken off by the client", async () => {
  const { call, sound } = await connected();
  ClientSocket.last.bufferedAmount = 64_001;
  sound.write(new Int16Array(320));
  assert.equal(call.state, "reconnecting");
});

test("sound that cannot be opened ends the call before it is begun", async () => {
  const sound = new OwnSound({ onAudio: () => {} });
  sound.open = () => Promise.reject(new CallFault("microphoneDenied", "not allowed"));
  const { call, told } = stand({ sound });
  await assert.rejects(call.start(), { code: "microphoneDenied" });
  assert.equal(ClientSocket.opened.length, 0);
  assert.equal(call.state, "ended");
  assert.equal(told("fault")[0]?.code, "microphoneDenied");
});

test("who hangs up while the microphone is asked for is told of no fault", async () => {
  const sound = new OwnSound({ onAudio: () => {} });
  let refuse = (_: CallFault) => {};
  sound.open = () => new Promise((_, reject) => (refuse = reject));
  const { call, told } = stand({ sound });
  const started = call.start();
  call.hangUp();
  refuse(new CallFault("microphoneDenied", "not allowed"));
  await started;
  assert.deepEqual(told("fault"), []);
  assert.equal(told("ended").length, 1);
});

test("a page's token that never comes ends the call, with the microphone, in 15 seconds", async () => {
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

test("a token that never comes while a line is made anew does not hold the call for ever", async () => {
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
  for (const wrong of [{}, { server: "voice.example.com" }]) {
    const { call, sound, told } = stand(wrong);
    await assert.rejects(call.start(), { code: "protocol" });
    assert.equal(call.state, "ended");
    assert.equal(told("fault").length, 1);
    assert.throws(() => sound.write(new Int16Array(320)), { code: "soundFailed" });
  }
});

test("a connection that may not be opened again ends the call, too", async () => {
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

test("who hangs up is told once, and nothing that comes later", async () => {
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

test("messages that a newer server may send, or nonsense, do no harm", async () => {
  const { call, told } = await connected();
  for (const data of ["", "{", "null", "[1]", '"text"', '{"type":"later"}', '{"type":7}']) {
    ClientSocket.last.onmessage?.({ data } as never);
  }
  ClientSocket.last.say({ type: "transcript" });
  assert.equal(call.state, "listening");
  assert.deepEqual(told("fault"), []);
});
