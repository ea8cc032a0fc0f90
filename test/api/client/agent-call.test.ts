import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { OwnSound } from "../../../api/client/own-sound.js";
import { connected, stand } from "./call-stand.js";
import { ClientSocket } from "./client-socket.js";

beforeEach(() => ClientSocket.forgetAll());

test("the address contains the given options, and no others", async () => {
  const { call } = stand({ agentId: "a 1", token: () => Promise.resolve("t&2") });
  await call.start();
  assert.equal(
    ClientSocket.last.address.href,
    "wss://voice.example.com/ws/voice?audio=stream&encoding=pcm24k&agent_id=a+1&token=t%262",
  );
});

test("frames are sent unchanged, and as silence while muted", async () => {
  const { call, sound } = await connected();
  sound.write(Int16Array.of(1, -1));
  call.setMuted(true);
  sound.write(Int16Array.of(1, -1));
  assert.deepEqual(ClientSocket.last.sent, [
    Uint8Array.of(1, 0, 255, 255),
    Uint8Array.of(0, 0, 0, 0),
  ]);
});

test("words, turns and waits are reported in the form that a page shows", async () => {
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

test("levels report the loudness of both sides, also to programs that handle the audio themselves", async () => {
  const { clock, sound, told } = await connected();
  const levels = (change: () => void) => {
    clock.advance(60);
    change();
    return told("levels").at(-1);
  };
  const loudest = { caller: 1, agent: 1 };
  assert.deepEqual(
    levels(() => sound.write(new Int16Array(320).fill(-32_768))),
    { caller: 1, agent: 0 },
  );
  ClientSocket.last.say({
    type: "audioStart",
    turnId: 1,
    encoding: "pcm24k",
    sampleRateHz: 24_000,
  });
  assert.deepEqual(
    levels(() => ClientSocket.last.sendAudio(2_400, -32_768)),
    loudest,
  );
  // Meters are updated 16 times a second, however often a level changes.
  sound.write(new Int16Array(320));
  assert.deepEqual(told("levels").at(-1), loudest);
  const silent = levels(() => ClientSocket.last.say({ type: "audioEnd" }));
  assert.deepEqual(silent, { caller: 0, agent: 0 });
});

test("after an interruption the unheard words are separate", async () => {
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

test("a reply of which nothing was heard is completely unheard when the next begins", async () => {
  const { told } = await connected();
  const socket = ClientSocket.last;
  socket.transcript("assistant", "Never heard.", false);
  socket.say({ type: "audioStop" });
  socket.transcript("assistant", "Another one.", false);
  const [, settled, next] = told("words");
  assert.deepEqual([settled?.id, settled?.text, settled?.unheard], [1, "", "Never heard."]);
  assert.deepEqual([next?.id, next?.text], [2, "Another one."]);
});

test("a broken connection is reopened into the same conversation, with a new token", async () => {
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

test("a restored connection reports the end of its fault", async () => {
  const { clock, told } = await connected();
  ClientSocket.last.breakOff();
  assert.deepEqual(told("mended"), []);
  clock.advance(1_000);
  await Promise.resolve();
  await Promise.resolve();
  ClientSocket.last.accept();
  assert.deepEqual(told("mended"), ["connectionLost"]);
});

test("a token that could not be fetched without a network is fetched for the next connection", async () => {
  let isThere = true;
  const token = () =>
    isThere ? Promise.resolve("t") : Promise.reject(new TypeError("no network"));
  const { call, clock, told } = await connected({ token });
  isThere = false;
  call.networkLost();
  const pass = async (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += 50) {
      clock.advance(50);
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    }
  };
  await pass(3_000);
  assert.ok(told("fault").some(({ code }) => code === "tokenFailed"));
  isThere = true;
  await pass(5_000);
  ClientSocket.last.accept();
  assert.deepEqual(told("mended"), ["connectionLost", "tokenFailed"]);
});

test("a progress report that arrives after a later one is dropped", async () => {
  const { sound } = await connected();
  const socket = ClientSocket.last;
  socket.say({ type: "audioStart", turnId: 1, encoding: "pcm24k", sampleRateHz: 24_000 });
  socket.sendAudio(48_000);
  for (const ms of [300, 200, 400]) sound.report(1, ms);
  const reports = socket.sent.filter((sent) => typeof sent === "string" && sent.includes("played"));
  assert.deepEqual(reports, [
    '{"type":"played","turnId":1,"ms":300}',
    '{"type":"played","turnId":1,"ms":400}',
  ]);
});

test("when the system reports that the network is lost, the call reconnects at once", async () => {
  const { call, clock, told } = await connected();
  call.networkLost();
  assert.equal(call.state, "reconnecting");
  clock.advance(1_000);
  await Promise.resolve();
  await Promise.resolve();
  ClientSocket.last.accept();
  assert.deepEqual(
    told("connected").map(({ isAgain }) => isAgain),
    [false, true],
  );
});

test("the volume is limited to 0 to 1", () => {
  const volumes: number[] = [];
  const setVolume = (volume: number) => void volumes.push(volume);
  const sound = Object.assign(new OwnSound({ onAudio: () => {} }), { setVolume });
  const { call } = stand({ sound });
  for (const volume of [-1, 0.5, 7]) call.setVolume(volume);
  assert.deepEqual(volumes, [0, 0.5, 1]);
});

test("written text is sent only while there is a connection", async () => {
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

test("the client closes a connection that accepts no data for two seconds", async () => {
  const { call, clock, sound } = await connected();
  for (let sent = 0; sent < 100; sent += 1) {
    ClientSocket.last.bufferedAmount = sent * 640;
    sound.write(new Int16Array(320));
    clock.advance(20);
  }
  ClientSocket.last.bufferedAmount = 64_001;
  assert.equal(call.state, "listening");
  sound.write(new Int16Array(320));
  assert.equal(call.state, "reconnecting");
});

test("a page that was suspended sends two seconds at once, and keeps its connection", async () => {
  const { call, clock, sound } = await connected();
  const { sent } = ClientSocket.last;
  clock.advance(5_000);
  for (let count = 0; count < 250; count += 1) {
    ClientSocket.last.bufferedAmount = sent.length * 640;
    sound.write(new Int16Array(320));
  }
  assert.equal(sent.length, 101);
  ClientSocket.last.bufferedAmount = 0;
  clock.advance(20);
  sound.write(new Int16Array(320));
  assert.equal(sent.length, 102);
  assert.equal(call.state, "listening");
});

test("unknown messages of a newer server, and invalid ones, are ignored", async () => {
  const { call, told } = await connected();
  for (const data of ["", "{", "null", "[1]", '"text"', '{"type":"later"}', '{"type":7}']) {
    ClientSocket.last.onmessage?.({ data } as never);
  }
  ClientSocket.last.say({ type: "transcript" });
  assert.equal(call.state, "listening");
  assert.deepEqual(told("fault"), []);
});
