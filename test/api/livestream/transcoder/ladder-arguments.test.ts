import assert from "node:assert/strict";
import { test } from "node:test";
import { ladderArguments } from "../../../../api/livestream/transcoder/ladder-arguments.js";
import { ladderPlans } from "../../../../api/livestream/transcoder/ladder-plan.js";
import { parseTranscoderConfig } from "../../../../api/livestream/transcoder/transcoder-config.js";

const CONFIG = parseTranscoderConfig({});

/** ffmpeg's arguments for the plan at `place`, from the whole ladder down; -1 is the least. */
function argumentsAt(
  place: number,
  audioCodec: string,
  sourceUrl = "rtmp://127.0.0.1/live/demo",
): string {
  const tracks = { video: { codec: "h264", width: 1280, height: 720 }, audioCodec };
  const plan = ladderPlans(tracks, CONFIG).at(place);
  assert.ok(plan !== undefined);
  const folder = { folder: "/hls/demo", firstNumber: 1, isResumed: false };
  const order = { ...CONFIG, ...folder, plan, tracks, sourceUrl };
  return ladderArguments(order).join(" ");
}

test("a copied source, for lack of room, is not encoded at all: neither its picture nor its audio", () => {
  const passedOn = argumentsAt(-1, "aac");
  assert.match(passedOn, / -c:v:0 copy .* -c:a:0 copy .* -c:a:1 copy -b:a:1 128k /);
  assert.doesNotMatch(passedOn, / (?:libx264|aac) /);
  assert.match(passedOn, / v:0,a:0,name:720p a:1,name:audio /);
});

test("the audio rendition is encoded next to encoded pictures, and if HLS cannot contain the source's codec", () => {
  assert.match(argumentsAt(0, "aac"), / -c:a:3 aac -b:a:3 64k /);
  assert.match(argumentsAt(-1, "opus"), / -c:a:0 aac .* -c:a:1 aac -b:a:1 64k /);
});

test("a copied source has segments of two seconds, an encoded one of one", () => {
  assert.match(argumentsAt(-1, "aac"), / -hls_time 1\.9 /);
  assert.match(argumentsAt(0, "aac"), / -hls_time 0\.75 /);
});

test("a broadcast is listed without waiting for frames to be counted, whatever it is read over", () => {
  for (const protocol of ["rtmp", "rtsp", "srt", "http"]) {
    assert.match(
      argumentsAt(0, "aac", `${protocol}://127.0.0.1/live/demo`),
      new RegExp(` -fpsprobesize 0 .*-i ${protocol}://`),
    );
  }
});
