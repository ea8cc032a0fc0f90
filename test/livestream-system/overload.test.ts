import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { eventually } from "../system/eventually.js";
import { untilThere } from "./folder-watch.js";
import { IngestStand } from "./ingest-stand.js";
import { RtmpClient } from "./rtmp-client.js";

const Health = v.object({
  status: v.string(),
  streams: v.optional(
    v.array(
      v.object({
        streamKey: v.string(),
        state: v.string(),
        speed: v.optional(v.number()),
        rungs: v.array(v.string()),
        reason: v.optional(v.string()),
      }),
    ),
    [],
  ),
});

async function health(stand: IngestStand): Promise<v.InferOutput<typeof Health>> {
  const answer = await fetch(`http://127.0.0.1:${stand.stateApiPort}/health`);
  return v.parse(Health, await answer.json());
}

test("a ladder that this machine cannot encode is reduced to the source, and playback continues", async (t) => {
  const stand = await IngestStand.start(t, {
    // No current machine encodes this in real time.
    hook: { PRESET: "veryslow", LADDER: "480:4000:48", FPS_MAX: "120", SPEED_MIN_PERCENT: "92" },
  });
  const listing = await stand.watchListing(t);
  stand.broadcast(t, "demo", { size: "854x480", framesPerSecond: 120, groupFrames: 120 });
  await stand.untilLogged(/"rungs":"480p audio","msg":"overload: dropping rungs"/);
  await eventually("the reduced state", async () => {
    const { status, streams } = await health(stand);
    const [stream] = streams;
    if (stream?.state !== "reduced") return undefined;
    assert.deepEqual([status, stream.streamKey], ["degraded", "demo"]);
    assert.match(stream.reason ?? "", /^made at 0\.\d\d of real time: reduced to 480p audio$/);
    return true;
  });
  await listing.until("added");
  const files = stand.files("demo");
  const { mediaSequence } = files.playlist("480p");
  await files.untilAbove("480p", mediaSequence + 4);
  assert.match(stand.ladders("demo")[0]?.commandLine ?? "", / -c:v:0 copy /);
});

test("beyond the machine's encoding limit, streams are passed through unchanged", async (t) => {
  const stand = await IngestStand.start(t, { hook: { ENCODE_MEGAPIXELS_MAX: "2" } });
  const listing = await stand.watchListing(t);
  // 240p, 144p and decoding at 15 frames per second: 1.7 megapixels per second.
  stand.broadcast(t, "first");
  await listing.until("added");
  stand.broadcast(t, "second");
  await listing.until("added");
  const encoded = ["first", "second"].map((key) => [
    key,
    stand.files(key).rungs().join(" "),
    stand.ladders(key)[0]?.commandLine.includes(" libx264 "),
  ]);
  assert.deepEqual(encoded, [
    ["first", "240p 144p audio", true],
    ["second", "240p audio", false],
  ]);
  for (const key of ["first", "second"]) {
    await untilThere(stand.files(key).folder, "thumbnail.jpg");
  }
  await eventually("the reduced state", async () => {
    const told = (await health(stand)).streams.map(({ streamKey, state }) => [streamKey, state]);
    return JSON.stringify(told) === JSON.stringify([["second", "reduced"]]) || undefined;
  });
});

test("unreadable video is reported once, with its codec, in the log and to clients", async (t) => {
  const stand = await IngestStand.start(t);
  const client = await RtmpClient.publish(stand.rtmpPort, "demo");
  t.after(() => client.leave());
  client.describe({ width: 320, height: 240, framerate: 15, videocodecid: 12 });
  // HEVC as broadcasting programs send it to RTMP servers: codec 12, a keyframe, its sequence header.
  client.video(0x1c, 0, 0, 0, 0, 1, 1, 0x60, 0, 0, 0);
  await eventually("the codec in the log", () => {
    client.video(0x1c, 1, 0, 0, 0, 0, 0, 0, 2, 0x26, 1);
    const line = /"codec":"HEVC","msg":"the picture cannot be read: expected H.264"/;
    return line.test(stand.log) || undefined;
  });
  await eventually("the unreadable state", async () => {
    const [stream] = (await health(stand)).streams;
    return stream?.state === "unreadable" || undefined;
  });
  assert.equal(stand.log.match(/the picture cannot be read/g)?.length, 1);
});
