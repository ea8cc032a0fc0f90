import { fileURLToPath } from "node:url";
import * as v from "valibot";
import { twilioWire } from "../engine/telephony/twilio/twilio-wire.js";
import { median } from "./quantile.js";

/** CPU time for one 20 ms frame of a telephone call, in µs. */
export interface WireCost {
  /** The byte scanner with its base64 decoder. */
  readonly receiveMicros: number;
  /** JSON.parse and a schema, as one would write it first. */
  readonly plainReceiveMicros: number;
  readonly sendMicros: number;
  /** JSON.stringify. */
  readonly plainSendMicros: number;
}

const FRAMES = 100_000;
const WARM_UP_FRAMES = 50_000;
const REPEATS = 7;
const STREAM_SID = "MZ00000000000000000000000000000001";

const AUDIO = Buffer.from(Uint8Array.from({ length: 160 }, (_, n) => (n * 37) & 0xff));
const MEDIA = Buffer.from(
  JSON.stringify({
    event: "media",
    sequenceNumber: "20001",
    streamSid: STREAM_SID,
    media: {
      track: "inbound",
      chunk: "20000",
      timestamp: "400000",
      payload: AUDIO.toString("base64"),
    },
  }),
);
const START = Buffer.from(
  JSON.stringify({ event: "start", start: { streamSid: STREAM_SID, callSid: "CA1" } }),
);

const MediaMessage = v.object({
  event: v.literal("media"),
  media: v.object({ track: v.string(), chunk: v.string(), payload: v.string() }),
});

/** What a frame costs on the way in and on the way out, ours beside the plain way, in turns so that both see one machine. */
export function measureTelephonyWire(): WireCost {
  const wire = twilioWire();
  wire.fromWire(START, false);
  // A socket copies the text; only then is a joined one really put together.
  const sent = Buffer.alloc(1024);
  const ways = [
    () => wire.fromWire(MEDIA, false).length,
    () => {
      const { media } = v.parse(MediaMessage, JSON.parse(MEDIA.toString("utf8")));
      return Buffer.from(media.payload, "base64").length;
    },
    () => sent.write(String(wire.audio(AUDIO)[0])),
    () => {
      const media = { payload: AUDIO.toString("base64") };
      return sent.write(JSON.stringify({ event: "media", streamSid: STREAM_SID, media }));
    },
  ];
  for (const way of ways) microsPerFrame(way, WARM_UP_FRAMES);
  const runs = Array.from({ length: REPEATS }, () =>
    ways.map((way) => microsPerFrame(way, FRAMES)),
  );
  const [receive, plainReceive, send, plainSend] = ways.map((_, index) =>
    median(runs.map((run) => run[index] ?? Number.NaN)),
  );
  return {
    receiveMicros: receive ?? Number.NaN,
    plainReceiveMicros: plainReceive ?? Number.NaN,
    sendMicros: send ?? Number.NaN,
    plainSendMicros: plainSend ?? Number.NaN,
  };
}

/** By CPU time and not by the clock: what else the machine does is not the code's fault. */
function microsPerFrame(way: () => number, frames: number): number {
  const before = process.cpuUsage();
  let sum = 0;
  for (let frame = 0; frame < frames; frame += 1) sum += way();
  if (sum < frames) throw new Error("a frame was not understood");
  const { user, system } = process.cpuUsage(before);
  return (user + system) / frames;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const cost = measureTelephonyWire();
  for (const [name, micros] of Object.entries(cost)) console.log(name, Number(micros).toFixed(3));
}
