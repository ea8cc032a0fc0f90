import assert from "node:assert/strict";
import { test } from "node:test";
import { type LegSession, PhoneLeg } from "../../../api/voice/phone-leg.js";
import { FRAME_MS } from "../../../engine/audio/audio-format.js";
import { Pacer } from "../../../engine/audio/pacer.js";
import type { Ending } from "../../../engine/session/ending.js";
import { AudioSocketWire } from "../../../engine/telephony/asterisk/audio-socket-wire.js";
import { twilioWire } from "../../../engine/telephony/twilio/twilio-wire.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const MULAW_BYTES_PER_SEC = 8_000;
const START = JSON.stringify({
  event: "start",
  start: { streamSid: "MZ1", callSid: "CA1", customParameters: {} },
});

const NO_LEG = { transfer: () => Promise.resolve(true), hangUp: () => Promise.resolve() };

/** A socket whose other end may stop reading. */
class SlowSocket {
  readonly closes: number[] = [];
  sentBytes = 0;
  unreadBytes = 0;
  isRead = true;

  send(message: string | Uint8Array): void {
    this.sentBytes += message.length;
    if (!this.isRead) this.unreadBytes += message.length;
  }

  end(code: number): void {
    this.closes.push(code);
  }

  getBufferedAmount(): number {
    return this.unreadBytes;
  }
}

function openLeg(onFault?: (error: unknown) => void) {
  const clock = new VirtualClock();
  const pacer = new Pacer(clock, onFault);
  const socket = new SlowSocket();
  const wire = twilioWire();
  wire.fromWire(Buffer.from(START), false);
  const leg = new PhoneLeg(socket, wire, pacer, NO_LEG);
  return { clock, pacer, socket, leg };
}

/** Keeps how it was ended, and does nothing. */
function recordingSession() {
  const endings: Ending[] = [];
  const session: LegSession = {
    end: (ending) => endings.push(ending),
    hear: () => {},
    hangUp: () => {},
    pressKey: () => {},
    sentenceHeard: () => {},
    soundLate: () => {},
  };
  return { endings, session };
}

test("a vendor that never reads ends the call as too slow, long before memory matters", () => {
  const { clock, socket, leg } = openLeg();
  const { endings, session } = recordingSession();
  leg.connect(session);
  socket.isRead = false;
  for (let second = 0; second < 60 && endings.length === 0; second += 1) {
    leg.sendAudio(new Uint8Array(MULAW_BYTES_PER_SEC), { turnId: 1, index: second }, true);
    clock.advance(1_000);
  }
  assert.equal(endings[0]?.reason, "callerTooSlow");
  assert.ok(socket.unreadBytes < 512 * 1024, `${socket.unreadBytes} bytes wait`);
});

test("a leg that cannot be sent to ends its call, which would be silent for as long as it lasts", () => {
  const faults: unknown[] = [];
  const { clock, pacer, socket, leg } = openLeg((fault) => faults.push(fault));
  const { session } = recordingSession();
  leg.connect({ ...session, end: (ending: Ending) => leg.end(ending) });
  leg.sendAudio(new Uint8Array(MULAW_BYTES_PER_SEC), { turnId: 1, index: 0 }, true);
  const error = new Error("the socket is gone");
  socket.send = () => {
    throw error;
  };
  clock.advance(FRAME_MS);
  assert.deepEqual(faults, [error]);
  assert.deepEqual(socket.closes, [1011]);
  assert.equal(pacer.streamCount, 0);
});

test("the session is told when the server was too late with what it had to send", () => {
  const { clock, leg } = openLeg();
  const late: number[] = [];
  const soundLate = (lateMs: number) => late.push(lateMs);
  leg.connect({ ...recordingSession().session, soundLate });
  leg.sendAudio(new Uint8Array(MULAW_BYTES_PER_SEC), { turnId: 1, index: 0 }, true);
  clock.stall(500);
  clock.advance(2_000);
  assert.equal(late.length, 1);
  assert.ok((late[0] ?? 0) > 300, `${late.join()} ms`);
  leg.close(1000, "over");
});

test("nothing is sent once the leg is closed, and its pacer stands still", async () => {
  const { clock, pacer, socket, leg } = openLeg();
  leg.sendAudio(new Uint8Array(MULAW_BYTES_PER_SEC), { turnId: 1, index: 0 }, true);
  clock.advance(FRAME_MS);
  assert.equal(pacer.streamCount, 1);
  leg.close(1000, "over");
  const { sentBytes } = socket;
  leg.sendAudio(new Uint8Array(MULAW_BYTES_PER_SEC), { turnId: 1, index: 1 }, true);
  leg.send({ type: "audioStop" });
  assert.equal(await leg.sendDigits("1"), "unavailable");
  clock.advance(10_000);
  assert.equal(socket.sentBytes, sentBytes);
  assert.deepEqual(socket.closes, [1000]);
  assert.equal(pacer.streamCount, 0);
  assert.equal(clock.pendingTimerCount, 0);
  assert.ok(leg.gone.aborted);
});

test("where the vendor tells no marks, a sentence counts as heard when it was sent in time", () => {
  const clock = new VirtualClock();
  const wire = new AudioSocketWire();
  wire.fromWire(Buffer.concat([Buffer.from([0x01, 0, 16]), Buffer.alloc(16)]));
  const leg = new PhoneLeg(new SlowSocket(), wire, new Pacer(clock), NO_LEG);
  const heardAtMs: number[] = [];
  const sentenceHeard = () => heardAtMs.push(clock.monotonicMs());
  const beganMs = clock.monotonicMs();
  leg.connect({ ...recordingSession().session, sentenceHeard });
  leg.sendAudio(new Uint8Array(2 * MULAW_BYTES_PER_SEC), { turnId: 1, index: 0 }, true);
  clock.advance(2_000);
  assert.deepEqual(
    heardAtMs.map((atMs) => atMs - beganMs),
    [1_000 - 2 * FRAME_MS],
  );
  leg.close(1000, "over");
});

test("a telephone has no page that could do anything, and says so at once", async () => {
  const answer = await openLeg().leg.useTool();
  assert.deepEqual(answer, { error: "the caller is on a telephone, which has no page" });
});

test("keys are pressed behind what was said, and told when the last has been sent", async () => {
  const { clock, socket, leg } = openLeg();
  leg.sendAudio(new Uint8Array(MULAW_BYTES_PER_SEC), { turnId: 1, index: 0 }, true);
  let outcome = "";
  void leg.sendDigits("1234").then((told) => {
    outcome = told;
  });
  clock.advance(1_500);
  await Promise.resolve();
  assert.equal(outcome, "");
  clock.advance(500);
  await Promise.resolve();
  assert.equal(outcome, "pressed");
  assert.ok(socket.sentBytes > 0);
  leg.close(1000, "over");
});

test("keys that the caller interrupts, or that the end of the call stops, were cut off", async () => {
  const { clock, leg } = openLeg();
  const interrupted = leg.sendDigits("12345678");
  clock.advance(200);
  leg.send({ type: "audioStop" });
  assert.equal(await interrupted, "cutOff");
  const ended = [leg.sendDigits("1"), leg.sendDigits("2")];
  leg.close(1000, "over");
  assert.deepEqual(await Promise.all(ended), ["cutOff", "cutOff"]);
  const { leg: gone } = openLeg();
  const stopped = gone.sendDigits("1");
  gone.socketClosed();
  assert.equal(await stopped, "cutOff");
});
