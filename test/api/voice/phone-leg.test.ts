import assert from "node:assert/strict";
import { test } from "node:test";
import { type LegSession, PhoneLeg } from "../../../api/voice/phone-leg.js";
import { FRAME_MS, frameBytesOf } from "../../../engine/audio/audio-format.js";
import { dtmfTones } from "../../../engine/audio/dtmf.js";
import { Pacer } from "../../../engine/audio/pacer.js";
import type { Ending } from "../../../engine/conversation/call-end.js";
import { AudioSocketWire } from "../../../engine/telephony/asterisk/audio-socket-wire.js";
import { twilioWire } from "../../../engine/telephony/twilio/twilio-wire.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { receive, VENDORS, type Vendor } from "../../engine/telephony/vendor-wires.js";

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
  const leg = new PhoneLeg(socket, wire, { pacer, clock }, NO_LEG);
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
    sentencePlayed: () => {},
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

test("the conversation learns when the server sent audio too late", () => {
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

test("nothing is sent after the leg is closed, and its pacer stops", async () => {
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
  assert.ok(leg.closed.aborted);
});

test("if the vendor reports no marks, a sentence counts as heard when it was sent in time", () => {
  const clock = new VirtualClock();
  const wire = new AudioSocketWire();
  wire.fromWire(Buffer.concat([Buffer.from([0x01, 0, 16]), Buffer.alloc(16)]));
  const leg = new PhoneLeg(new SlowSocket(), wire, { pacer: new Pacer(clock), clock }, NO_LEG);
  const heardAtMs: number[] = [];
  const sentencePlayed = () => heardAtMs.push(clock.monotonicMs());
  const beganMs = clock.monotonicMs();
  leg.connect({ ...recordingSession().session, sentencePlayed });
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

test("DTMF is sent after speech, and reported when the last digit was sent", async () => {
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

const HANG_UP_DELAY_MS = 300;
const SENTENCE = { turnId: 1, index: 0 };
const AGENT_HUNG_UP: Ending = { reason: "agentHungUp", status: "completed", message: "over" };
const TRANSFERRED: Ending = { ...AGENT_HUNG_UP, reason: "transferred", transferTo: "+15550001" };

const { Twilio: TWILIO } = VENDORS;
assert.ok(TWILIO !== undefined);

/** One leg with all that it does to its telephone, each with its time. */
function legAt(vendor: Vendor) {
  const clock = new VirtualClock();
  const beganMs = clock.monotonicMs();
  const done: (readonly [string, number])[] = [];
  const note = (what: string) => done.push([what, clock.monotonicMs() - beganMs]);
  const wire = vendor.wire();
  receive(wire, vendor.start);
  const hangUpFrames = wire.hangUp();
  const socket = {
    send: (frame: string | Uint8Array) => {
      if (hangUpFrames.some((one) => String(one) === String(frame))) note("hang-up frame");
    },
    end: () => note("closed"),
    getBufferedAmount: () => 0,
  };
  const leg = new PhoneLeg(
    socket,
    wire,
    { pacer: new Pacer(clock), clock },
    {
      hangUp: async () => void note("hang-up request"),
      transfer: async () => {
        note("transfer");
        return true;
      },
    },
  );
  leg.connect(recordingSession().session);
  const bytesPerMs = frameBytesOf(wire.outbound) / FRAME_MS;
  const say = (ms: number) => leg.sendAudio(new Uint8Array(ms * bytesPerMs), SENTENCE, true);
  const hangsUpBy = [
    ...(hangUpFrames.length > 0 ? ["hang-up frame"] : []),
    ...(wire.closingHangsUp ? [] : ["hang-up request"]),
    "closed",
  ];
  return { clock, leg, done, say, wire, hangsUpBy };
}

for (const [name, vendor] of Object.entries(VENDORS)) {
  test(`${name}: the hang-up comes 300 ms after the last sample is due, and at once after a silence`, () => {
    const { clock, leg, done, say, hangsUpBy } = legAt(vendor);
    say(1_000);
    clock.advance(1_000 - FRAME_MS);
    leg.end(AGENT_HUNG_UP);
    leg.end(AGENT_HUNG_UP);
    clock.advance(10_000);
    assert.deepEqual(
      done,
      hangsUpBy.map((step) => [step, 1_000 + HANG_UP_DELAY_MS]),
    );
    const silent = legAt(vendor);
    silent.say(1_000);
    silent.clock.advance(1_000 + HANG_UP_DELAY_MS);
    silent.leg.end(AGENT_HUNG_UP);
    assert.deepEqual(
      silent.done.map(([step]) => step),
      hangsUpBy,
    );
    const unspoken = legAt(vendor);
    unspoken.leg.refuse(1000, "there is no such agent");
    assert.deepEqual(
      unspoken.done.map(([step]) => step),
      hangsUpBy,
    );
  });

  test(`${name}: keys are heard to their end before the hang-up`, async () => {
    const { clock, leg, done } = legAt(vendor);
    const pressed = leg.sendDigits("12");
    const outcomes: string[] = [];
    void pressed.then((outcome) => outcomes.push(outcome));
    while (outcomes.length === 0) {
      clock.advance(FRAME_MS);
      await Promise.resolve();
    }
    leg.end(AGENT_HUNG_UP);
    clock.advance(10_000);
    const sentMs = (dtmfTones("12", 8_000).length / 8_000) * 1_000;
    const tonesMs = Math.ceil(sentMs / FRAME_MS) * FRAME_MS;
    const [, closedAtMs] = done.at(-1) ?? [];
    assert.deepEqual(outcomes, ["pressed"]);
    assert.equal(closedAtMs, tonesMs + HANG_UP_DELAY_MS);
  });

  test(`${name}: a transfer waits for the last words, and its leg does not wait again`, async () => {
    const { clock, leg, done, say } = legAt(vendor);
    say(500);
    clock.advance(480);
    const taken = leg.transfer({ to: "+15550001" });
    clock.advance(HANG_UP_DELAY_MS + FRAME_MS - 1);
    await Promise.resolve();
    assert.deepEqual(done, []);
    clock.advance(1);
    assert.equal(await taken, true);
    leg.end(TRANSFERRED);
    assert.deepEqual(done, [
      ["transfer", 500 + HANG_UP_DELAY_MS],
      ["closed", 500 + HANG_UP_DELAY_MS],
    ]);
  });

  test(`${name}: a caller who has left is not awaited`, async () => {
    const left = legAt(vendor);
    left.say(500);
    left.clock.advance(500);
    left.leg.end(AGENT_HUNG_UP);
    left.leg.take({ type: "ended" });
    left.clock.advance(10_000);
    assert.deepEqual(left.done, [["closed", 500]]);
    const lost = legAt(vendor);
    lost.say(500);
    lost.clock.advance(500);
    lost.leg.end(AGENT_HUNG_UP);
    lost.leg.socketClosed();
    lost.clock.advance(10_000);
    // The stream broke; the telephone's call may be there still.
    assert.deepEqual(lost.done, lost.wire.closingHangsUp ? [] : [["hang-up request", 500]]);
    const asking = legAt(vendor);
    asking.say(500);
    asking.clock.advance(500);
    const transfer = asking.leg.transfer({ to: "+15550001" });
    asking.leg.take({ type: "ended" });
    assert.equal(await transfer, false);
    assert.equal(asking.clock.pendingTimerCount, 0);
  });
}

test("what the pacer has not sent is not waited for: the wait is bounded", () => {
  const { clock, leg, done, say } = legAt(TWILIO);
  say(20_000);
  clock.advance(1_000);
  leg.end(AGENT_HUNG_UP);
  say(20_000);
  clock.advance(500);
  assert.equal(done.at(-1)?.[0], "closed");
  assert.ok((done.at(-1)?.[1] ?? 0) <= 1_500);
  assert.equal(clock.pendingTimerCount, 0);
});

test("where the vendor plays later than it was sent, its mark counts", () => {
  const { clock, leg, done, say } = legAt(TWILIO);
  say(500);
  clock.advance(900);
  leg.take({ type: "markReached", name: "1.0", wasPlayed: true });
  leg.end(AGENT_HUNG_UP);
  clock.advance(10_000);
  assert.deepEqual(done, [["closed", 900 + HANG_UP_DELAY_MS]]);
});

test("a broken call that continues elsewhere is released immediately", () => {
  const { clock, leg, done, say } = legAt(TWILIO);
  leg.reconnectWhenBroken();
  say(500);
  clock.advance(400);
  leg.end({ reason: "serverStopping", status: "completed", message: "the server stops" });
  assert.deepEqual(done, [["closed", 400]]);
  assert.ok(leg.isClaimed);
});
