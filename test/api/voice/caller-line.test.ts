import assert from "node:assert/strict";
import { test } from "node:test";
import { CallerLine } from "../../../api/voice/caller-line.js";
import { CALLER_LEFT, type Ending, SPEECH_FAILED } from "../../../engine/session/ending.js";
import { RecordingSocket } from "../../doubles/recording-socket.js";

const FRAME_BYTES_MAX = 64 * 1024;
const UNREAD_BYTES_MAX = 1024 * 1024;

/** A session that ends as the real one does: first a message, then the line. */
class EndingSession {
  readonly heard: Buffer[] = [];
  readonly endings: Ending[] = [];
  readonly #line: CallerLine;

  constructor(line: CallerLine) {
    this.#line = line;
  }

  hear(audio: Uint8Array): void {
    this.heard.push(Buffer.from(audio));
  }

  end(ending: Ending): void {
    if (this.endings.push(ending) > 1) return;
    this.#line.send({ type: "error", message: ending.message });
    this.#line.end(ending);
  }
}

function connected() {
  const socket = new RecordingSocket();
  const line = new CallerLine(socket);
  const session = new EndingSession(line);
  line.connect(session);
  return { socket, line, session };
}

test("messages and sentences go out as they come, with what was announced", () => {
  const { socket, line } = connected();
  line.announce({ agentName: "Ada", historyKey: "key" });
  line.send({ type: "connected" });
  line.sendAudio(Uint8Array.of(1, 2));
  line.send({ type: "audioEnd" });
  assert.deepEqual(socket.sent, [
    '{"type":"connected","agentName":"Ada","historyKey":"key"}',
    Uint8Array.of(1, 2),
    '{"type":"audioEnd"}',
  ]);
});

test("audio goes to the session, what came before it was ready first", () => {
  const line = new CallerLine(new RecordingSocket());
  line.receive(Buffer.of(1, 2));
  const session = new EndingSession(line);
  line.connect(session);
  line.receive(Buffer.of(3, 4));
  assert.deepEqual(session.heard, [Buffer.of(1, 2), Buffer.of(3, 4)]);
});

test("a refused client is told why before it is closed, and only once", () => {
  const socket = new RecordingSocket();
  const line = new CallerLine(socket);
  line.refuse(4001, "no key");
  line.refuse(4005, "no agent");
  assert.deepEqual(socket.sent, ['{"type":"error","payload":{"message":"no key"}}']);
  assert.deepEqual(socket.ended, { code: 4001, reason: "no key" });
  assert.equal(line.isOpen, false);
  assert.ok(line.gone.aborted);
});

test("nothing is sent on a line that is closed, by either side", () => {
  for (const close of [
    (line: CallerLine) => line.end(SPEECH_FAILED),
    (line: CallerLine) => line.socketClosed(""),
  ]) {
    const socket = new RecordingSocket();
    const line = new CallerLine(socket);
    close(line);
    line.send({ type: "audioEnd" });
    line.sendAudio(Uint8Array.of(1));
    line.end(SPEECH_FAILED);
    line.receive(Buffer.alloc(FRAME_BYTES_MAX + 1));
    assert.deepEqual(socket.sent, []);
    assert.ok(line.gone.aborted);
  }
});

test("the session learns that its client has gone", () => {
  const { line, session } = connected();
  line.socketClosed("");
  line.socketClosed("");
  assert.deepEqual(session.endings, [CALLER_LEFT]);
});

test("a frame of 64 KiB passes, one byte more ends the call", () => {
  const { socket, line, session } = connected();
  line.receive(Buffer.alloc(FRAME_BYTES_MAX));
  assert.equal(session.heard.length, 1);
  line.receive(Buffer.alloc(FRAME_BYTES_MAX + 1));
  assert.equal(session.heard.length, 1);
  assert.equal(session.endings[0]?.reason, "callerProtocol");
  assert.equal(socket.ended?.code, 1009);
});

test("a frame over 64 KiB before there is a session refuses the client", () => {
  const socket = new RecordingSocket();
  new CallerLine(socket).receive(Buffer.alloc(FRAME_BYTES_MAX + 1));
  assert.equal(socket.ended?.code, 1009);
  assert.match(String(socket.sent[0]), /at most 65536 bytes/);
});

test("a connection that the library broke over a frame's size is recorded as that", () => {
  const { line, session } = connected();
  line.socketClosed("Received too big message");
  assert.equal(session.endings[0]?.reason, "callerProtocol");
});

test("up to 1 MiB may be unread, one byte more ends the call", () => {
  const { socket, line, session } = connected();
  socket.unreadBytes = UNREAD_BYTES_MAX;
  line.sendAudio(Uint8Array.of(1));
  assert.equal(session.endings.length, 0);
  socket.unreadBytes += 1;
  line.sendAudio(Uint8Array.of(1));
  assert.equal(session.endings[0]?.reason, "callerTooSlow");
  assert.equal(socket.ended?.code, 1013);
});

test("ticks without a frame are counted, and a frame of any size starts anew", () => {
  const { line } = connected();
  assert.deepEqual([line.countSilence(), line.countSilence(), line.countSilence()], [1, 2, 3]);
  line.receive(new Uint8Array(0));
  assert.equal(line.countSilence(), 1);
});
