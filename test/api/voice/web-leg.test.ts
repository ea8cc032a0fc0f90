import assert from "node:assert/strict";
import { test } from "node:test";
import type { StreamEncoding } from "../../../api/voice/audio-mode.js";
import { WebLeg } from "../../../api/voice/web-leg.js";
import { CALLER_LEFT, type Ending, SPEECH_FAILED } from "../../../engine/conversation/call-end.js";
import { RecordingSocket } from "../../doubles/recording-socket.js";

const FRAME_BYTES_MAX = 64 * 1024;
const UNREAD_BYTES_MAX = 1024 * 1024;
const FIRST = { turnId: 1, index: 0 };

/** A session that ends as the real one does: first a message, then the leg. */
class EndingSession {
  readonly heard: Buffer[] = [];
  readonly endings: Ending[] = [];
  readonly reports: string[] = [];
  readonly #leg: WebLeg;

  constructor(leg: WebLeg) {
    this.#leg = leg;
  }

  hear(audio: Uint8Array): void {
    this.heard.push(Buffer.from(audio));
  }

  played(turnId: number, playedMs: number): void {
    this.reports.push(`${playedMs} ms of turn ${turnId}`);
  }

  write(text: string): void {
    this.reports.push(`wrote "${text}"`);
  }

  end(ending: Ending): void {
    if (this.endings.push(ending) > 1) return;
    const { reason, message } = ending;
    this.#leg.send({ type: "error", reason, message });
    this.#leg.end(ending);
  }
}

function connected(encoding?: StreamEncoding) {
  const socket = new RecordingSocket();
  const leg = new WebLeg(socket, encoding);
  const session = new EndingSession(leg);
  leg.connect(session);
  return { socket, leg, session };
}

test("messages and sentences go out as they come, with what was announced", () => {
  const { socket, leg } = connected();
  leg.announce({ callId: "call", agentName: "Ada", historyKey: "key" });
  leg.send({ type: "connected" });
  leg.sendAudio(Uint8Array.of(1, 2), FIRST);
  leg.send({ type: "audioEnd" });
  assert.deepEqual(socket.sent, [
    '{"type":"connected","agentName":"Ada","historyKey":"key"}',
    Uint8Array.of(1, 2),
    '{"type":"audioEnd"}',
  ]);
});

test("a client in stream mode gets its call's id", () => {
  const { socket, leg } = connected("pcm24k");
  leg.announce({ callId: "call", agentName: "Ada", historyKey: "key" });
  leg.send({ type: "connected" });
  assert.deepEqual(socket.sent, [
    '{"type":"connected","agentName":"Ada","historyKey":"key","callId":"call"}',
  ]);
});

test("audio goes to the conversation, early audio first", () => {
  const leg = new WebLeg(new RecordingSocket());
  leg.receive(Buffer.of(1, 2));
  const session = new EndingSession(leg);
  leg.connect(session);
  leg.receive(Buffer.of(3, 4));
  assert.deepEqual(session.heard, [Buffer.of(1, 2), Buffer.of(3, 4)]);
});

test("a refused client gets the reason once before the close", () => {
  const socket = new RecordingSocket();
  const leg = new WebLeg(socket);
  leg.refuse(4001, "invalid_api_key", "no key");
  leg.refuse(4005, "agent_not_found", "no agent");
  assert.deepEqual(socket.sent, [
    '{"type":"error","payload":{"message":"no key","code":"invalid_api_key"}}',
  ]);
  assert.deepEqual(socket.ended, { code: 4001, reason: "no key" });
  assert.equal(leg.isOpen, false);
  assert.ok(leg.closed.aborted);
});

test("nothing is sent on a leg that is closed, by either side", () => {
  for (const close of [
    (leg: WebLeg) => leg.end(SPEECH_FAILED),
    (leg: WebLeg) => leg.socketClosed(""),
  ]) {
    const socket = new RecordingSocket();
    const leg = new WebLeg(socket);
    close(leg);
    leg.send({ type: "audioEnd" });
    leg.sendAudio(Uint8Array.of(1), FIRST);
    leg.end(SPEECH_FAILED);
    leg.receive(Buffer.alloc(FRAME_BYTES_MAX + 1));
    assert.deepEqual(socket.sent, []);
    assert.ok(leg.closed.aborted);
  }
});

test("the session learns that its client has gone", () => {
  const { leg, session } = connected();
  leg.socketClosed("");
  leg.socketClosed("");
  assert.deepEqual(session.endings, [CALLER_LEFT]);
});

test("a frame of 64 KiB passes, one byte more ends the call", () => {
  const { socket, leg, session } = connected();
  leg.receive(Buffer.alloc(FRAME_BYTES_MAX));
  assert.equal(session.heard.length, 1);
  leg.receive(Buffer.alloc(FRAME_BYTES_MAX + 1));
  assert.equal(session.heard.length, 1);
  assert.equal(session.endings[0]?.reason, "callerProtocol");
  assert.equal(socket.ended?.code, 1009);
});

test("a frame over 64 KiB before there is a session refuses the client", () => {
  const socket = new RecordingSocket();
  new WebLeg(socket).receive(Buffer.alloc(FRAME_BYTES_MAX + 1));
  assert.equal(socket.ended?.code, 1009);
  assert.match(String(socket.sent[0]), /at most 65536 bytes/);
});

test("15,000 frames of a tick pass, of which 1,000 may be text; one more ends the call", () => {
  for (const [encoding, countMax, send] of [
    [undefined, 15_000, (leg: WebLeg) => leg.receive(Buffer.alloc(2))],
    ["mulaw", 1_000, (leg: WebLeg) => leg.receiveText(Buffer.from('{"type":"tools","names":[]}'))],
  ] as const) {
    const { socket, leg, session } = connected(encoding);
    for (let tick = 0; tick < 2; tick += 1) {
      for (let count = 0; count < countMax; count += 1) send(leg);
      leg.countSilence();
    }
    for (let count = 0; count < countMax; count += 1) send(leg);
    assert.equal(session.endings.length, 0);
    send(leg);
    assert.equal(session.endings[0]?.reason, "callerTooFast");
    assert.equal(socket.ended?.code, 1008);
  }
});

test("a connection that the library broke over a frame's size is recorded as that", () => {
  const { leg, session } = connected();
  leg.socketClosed("Received too big message");
  assert.equal(session.endings[0]?.reason, "callerProtocol");
});

test("up to 1 MiB may be unread, one byte more ends the call", () => {
  const { socket, leg, session } = connected();
  socket.unreadBytes = UNREAD_BYTES_MAX;
  leg.sendAudio(Uint8Array.of(1), FIRST);
  assert.equal(session.endings.length, 0);
  socket.unreadBytes += 1;
  leg.sendAudio(Uint8Array.of(1), FIRST);
  assert.equal(session.endings[0]?.reason, "callerTooSlow");
  assert.equal(socket.ended?.code, 1013);
});

test("ticks without a frame are counted, and a frame of any size resets the count", () => {
  const { leg } = connected();
  assert.deepEqual([leg.countSilence(), leg.countSilence(), leg.countSilence()], [1, 2, 3]);
  leg.receive(new Uint8Array(0));
  assert.equal(leg.countSilence(), 1);
});

test("a text frame means nothing to a leg of whole sentences", () => {
  const { socket, leg, session } = connected();
  leg.sendAudio(Uint8Array.of(1, 2), FIRST);
  leg.receiveText(Buffer.from('{"type":"played","turnId":1,"ms":0}'));
  leg.receiveText(Buffer.from("hello"));
  leg.drained();
  assert.deepEqual(session.reports, []);
  assert.deepEqual(socket.sent, [Uint8Array.of(1, 2)]);
});

test("a leg in stream mode sends pieces as they arrive, and reports played audio to the conversation", () => {
  const { socket, leg, session } = connected("mulaw");
  leg.sendAudio(new Uint8Array(240), FIRST);
  leg.sendAudio(new Uint8Array(0), FIRST);
  leg.receiveText(Buffer.from('{"type":"played","turnId":1,"ms":30}'));
  leg.receiveText(Buffer.from('{"type":"played","turnId":1,"ms":31}'));
  leg.receiveText(Buffer.from('{"type":"played","turnId":1,"ms":500}'));
  leg.send({ type: "audioEnd" });
  assert.deepEqual(session.reports, ["30 ms of turn 1", "30 ms of turn 1"]);
  assert.deepEqual(socket.sent, [
    '{"type":"audioStart","turnId":1,"encoding":"mulaw","sampleRateHz":8000}',
    new Uint8Array(240),
    '{"type":"error","payload":{"message":"ms: expected at most the 30 ms that were sent of turn 1","code":"invalid_message"}}',
    '{"type":"audioEnd"}',
  ]);
});

test("five written messages are accepted per tick, and they count as activity", () => {
  const { socket, leg, session } = connected("mulaw");
  leg.countSilence();
  leg.countSilence();
  for (let count = 1; count <= 6; count += 1) {
    leg.receiveText(Buffer.from(`{"type":"written","text":"Line ${count}"}`));
  }
  const refusal = "written: expected at most 5 in 5 seconds";
  assert.deepEqual(socket.sent, [
    `{"type":"error","payload":{"message":"${refusal}","code":"invalid_message"}}`,
  ]);
  assert.equal(leg.countSilence(), 1);
  leg.receiveText(Buffer.from('{"type":"written","text":"Line 7"}'));
  assert.deepEqual(session.reports.at(-1), 'wrote "Line 7"');
  assert.equal(session.reports.length, 6);
});

test("what is written before the call has begun is refused, and does no harm", () => {
  const socket = new RecordingSocket();
  const leg = new WebLeg(socket, "mulaw");
  leg.receiveText(Buffer.from('{"type":"written","text":"Hello"}'));
  assert.match(String(socket.sent), /written: expected after `connected`/);
  assert.ok(leg.isOpen);
});

test("a client that offers a tool gets its calls, and its result is the tool's", async () => {
  const { socket, leg } = connected("mulaw");
  const { signal } = new AbortController();
  leg.receiveText(Buffer.from('{"type":"tools","names":["show"]}'));
  const answer = leg.useTool({ name: "show", arguments: { page: 2 } }, signal);
  leg.receiveText(Buffer.from('{"type":"toolResult","id":1,"result":"shown"}'));
  assert.deepEqual(await answer, { result: "shown" });
  leg.receiveText(Buffer.from('{"type":"toolResult","id":2}'));
  assert.deepEqual(socket.sent, [
    '{"type":"toolCall","id":1,"name":"show","arguments":{"page":2}}',
    '{"type":"error","payload":{"message":"id: expected that of a `toolCall`","code":"invalid_message"}}',
  ]);
});

test("a client with whole sentences gets no tool calls, whatever it sends", async () => {
  const { socket, leg } = connected();
  leg.receiveText(Buffer.from('{"type":"tools","names":["show"]}'));
  const call = { name: "show", arguments: {} };
  const answer = await leg.useTool(call, new AbortController().signal);
  assert.deepEqual(answer, { error: "the caller's page does not offer this" });
  assert.deepEqual(socket.sent, []);
});

test("an interruption passes what waits for a slow client, which never leaves", () => {
  const { socket, leg } = connected("pcm24k");
  socket.unreadBytes = 100_000;
  leg.sendAudio(new Uint8Array(48_000), FIRST);
  leg.send({ type: "audioEnd" });
  assert.deepEqual(socket.sent, []);
  leg.send({ type: "audioStop" });
  socket.unreadBytes = 0;
  leg.drained();
  assert.deepEqual(socket.sent, ['{"type":"audioStop"}']);
});

test("a streamed client that does not read ends the call before its audio fills the memory", () => {
  const { socket, leg, session } = connected("pcm24k");
  socket.unreadBytes = 100_000;
  for (let second = 0; second < 70; second += 1) leg.sendAudio(new Uint8Array(48_000), FIRST);
  assert.equal(session.endings[0]?.reason, "callerTooSlow");
  assert.equal(socket.ended?.code, 1013);
  socket.unreadBytes = 0;
  leg.drained();
  leg.receiveText(Buffer.from("hello"));
  assert.deepEqual(socket.sent, [
    '{"type":"error","payload":{"message":"write buffer full: the client reads too slowly","code":"client_too_slow"}}',
  ]);
});
