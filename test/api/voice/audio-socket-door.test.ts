import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { AudioSocketRoute, KEEP_ALIVE_MS } from "../../../api/voice/audio-socket-route.js";
import type { StartedStream } from "../../../api/voice/phone-calls.js";
import { PhoneLeg } from "../../../api/voice/phone-leg.js";
import { freePorts } from "../../../bench/livestream/free-ports.js";
import { Pacer } from "../../../engine/audio/pacer.js";
import type { Ending } from "../../../engine/conversation/call-end.js";
import { StreamUuids } from "../../../engine/security/stream-uuid.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const SILENT_TICKS_MAX = 12;
/** At 8 kHz; the kernel may keep some megabytes. */
const MINUTE_BYTES = 60 * 16_000;
const MINUTES_MAX = 60;
const NO_LEG = { transfer: () => Promise.resolve(false), hangUp: () => Promise.resolve() };

/** Ticks by hand. */
class TickingClock extends SystemClock {
  tick = () => {};
  keepAlive = () => {};

  override every(periodMs: number, action: () => void): () => void {
    if (periodMs === KEEP_ALIVE_MS) this.keepAlive = action;
    else this.tick = action;
    return () => {};
  }
}

async function openDoor(
  context: TestContext,
  connectionsMax?: number,
  answer?: (stream: StartedStream) => PhoneLeg,
) {
  const clock = new TickingClock();
  const log = new RecordingLogger();
  const streamUuids = new StreamUuids(clock);
  const pacer = new Pacer(clock);
  const begun: StartedStream[] = [];
  const startLeg = (stream: StartedStream) => {
    begun.push(stream);
    if (answer !== undefined) return answer(stream);
    return new PhoneLeg(stream.socket, stream.wire, { pacer, clock }, NO_LEG);
  };
  const [port = 0] = await freePorts(1);
  const options = { host: "127.0.0.1", port, phoneCalls: { startLeg }, streamUuids, clock, log };
  const max = connectionsMax === undefined ? {} : { connectionsMax };
  const route = await AudioSocketRoute.open({ ...options, ...max });
  context.after(() => route.close());
  const dial = async () => {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  };
  return { options, route, clock, log, begun, dial };
}

function closed(socket: Socket): Promise<unknown> {
  socket.resume();
  return once(socket, "close");
}

test("beyond its bound connections are dropped, the log says so once, and there is room again later", async (context) => {
  const { log, dial } = await openDoor(context, 2);
  const kept = [await dial(), await dial()];
  await closed(await dial());
  await closed(await dial());
  assert.deepEqual(
    log.lines.map(({ message }) => message),
    ["there are too many AudioSocket connections"],
  );
  for (const socket of kept) {
    const end = closed(socket);
    socket.end();
    await end;
  }
  const next = await dial();
  next.write(Buffer.from([0xff]));
  await closed(next);
  assert.match(JSON.stringify(log.lines.at(-1)), /it is not AudioSocket/);
});

test("a connection that has been silent for a minute is dropped, one that speaks is not", async (context) => {
  const { clock, log, begun, dial } = await openDoor(context);
  const [silent, speaking] = [await dial(), await dial()];
  for (const socket of [silent, speaking]) {
    socket.write(Buffer.concat([Buffer.from([0x01, 0, 16]), Buffer.alloc(16, 7)]));
  }
  while (begun.length < 2) await new Promise(setImmediate);
  const gone = closed(silent);
  for (let tick = 1; tick < SILENT_TICKS_MAX; tick += 1) clock.tick();
  speaking.write(Buffer.from([0x10, 0, 2, 0, 0]));
  const heard = begun[1]?.wire;
  assert.ok(heard);
  // Answered in order: when the echo of a refused byte is there, so is the frame before it.
  const probe = await dial();
  probe.write(Buffer.from([0xff]));
  await closed(probe);
  clock.tick();
  await gone;
  assert.equal(speaking.destroyed, false);
  assert.match(JSON.stringify(log.lines), /connection timed out/);
  speaking.destroy();
});

test("a call in which nobody speaks is kept alive by silence, and by nothing beside words", async (context) => {
  const { clock, begun, dial } = await openDoor(context);
  const [phone, waiting] = [await dial(), await dial()];
  phone.write(Buffer.concat([Buffer.from([0x01, 0, 16]), Buffer.alloc(16, 7)]));
  while (begun.length < 1) await new Promise(setImmediate);
  const { socket, wire } = begun[0] ?? assert.fail("no call");
  const silence = Buffer.concat([Buffer.from([0x10, 1, 0x40]), Buffer.alloc(320)]);
  const words = Buffer.concat([Buffer.from([0x10, 1, 0x40]), Buffer.alloc(320, 1)]);
  const say = () => {
    for (const frame of wire.audio(Buffer.alloc(320, 1))) socket.send(frame, true);
  };
  clock.keepAlive();
  say();
  clock.keepAlive();
  clock.keepAlive();
  socket.end(1000, "");
  const chunks: Buffer[] = [];
  phone.on("data", (bytes: Buffer) => chunks.push(bytes));
  await once(phone, "end");
  phone.destroy();
  assert.deepEqual(Buffer.concat(chunks), Buffer.concat([silence, words, silence]));
  assert.equal(waiting.bytesRead, 0);
  waiting.destroy();
});

test("a port in use is an error immediately", async (context) => {
  const { options } = await openDoor(context);
  await assert.rejects(AudioSocketRoute.open(options), { code: "EADDRINUSE" });
});

test("a call whose other side never reads ends as too slow, and its connection does not stay", async (context) => {
  const playing = new VirtualClock();
  const pacer = new Pacer(playing);
  const endings: Ending[] = [];
  const legs: PhoneLeg[] = [];
  const startLeg = ({ socket, wire }: StartedStream) => {
    const leg = new PhoneLeg(socket, wire, { pacer, clock: playing }, NO_LEG);
    const end = (ending: Ending) => {
      endings.push(ending);
      leg.end(ending);
    };
    leg.connect({
      end,
      hear: () => {},
      pressKey: () => {},
      sentencePlayed: () => {},
      soundLate: () => {},
      hangUp: () => {},
    });
    legs.push(leg);
    return leg;
  };
  const { dial } = await openDoor(context, undefined, startLeg);
  const deaf = await dial();
  deaf.pause();
  deaf.write(Buffer.concat([Buffer.from([0x01, 0, 16]), Buffer.alloc(16, 7)]));
  while (legs.length === 0) await new Promise(setImmediate);
  for (let minute = 0; minute < MINUTES_MAX && endings.length === 0; minute += 1) {
    legs[0]?.sendAudio(new Uint8Array(MINUTE_BYTES), { turnId: 1, index: minute }, true);
    playing.advance(60_000);
    // The kernel takes what it can; only what it leaves counts.
    await new Promise(setImmediate);
  }
  assert.deepEqual(
    endings.map(({ reason }) => reason),
    ["callerTooSlow"],
  );
  await closed(deaf);
});
