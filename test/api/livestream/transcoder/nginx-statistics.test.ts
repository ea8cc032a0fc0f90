import assert from "node:assert/strict";
import { test } from "node:test";
import { parseNginxStatistics } from "../../../../api/livestream/transcoder/nginx-statistics.js";

const META =
  "<meta><video><width>320</width><height>240</height><frame_rate>15</frame_rate><codec>H264</codec></video><audio><codec>AAC</codec><profile>LC</profile><channels>2</channels><sample_rate>48000</sample_rate></audio></meta>";

function client(id: number, more = ""): string {
  return `<client><id>${id}</id><address>192.0.2.${id}</address><time>9</time>${more}<active/></client>\n`;
}

/** As nginx-rtmp 1.1.4 of Debian wrote it. */
function statistics(...streams: readonly string[]): string {
  const all = streams.map((stream) => `<stream>\n${stream}</stream>\n`).join("");
  return `<?xml version="1.0" encoding="utf-8" ?>\n<rtmp>\n<pid>77</pid>\n<server>\n<application>\n<name>live</name>\n<live>\n${all}<nclients>0</nclients>\n</live></application></server></rtmp>`;
}

test("publishers, their addresses and their tracks", () => {
  const text = statistics(
    `<name>demo</name><time>1</time>${client(4)}${client(3, "<publishing/>")}${META}<publishing/>`,
    `<name>sound</name>${client(9, "<publishing/>")}<meta><video></video><audio><codec>AAC</codec></audio></meta>`,
  );
  assert.deepEqual(parseNginxStatistics(text), [
    {
      streamKey: "demo",
      session: "nginx-77-3",
      clientIp: "192.0.2.3",
      tracks: {
        video: { codec: "h264", width: 320, height: 240 },
        audioCodec: "aac",
        audioFormat: "48000 Hz, 2 channels",
      },
    },
    {
      streamKey: "sound",
      session: "nginx-77-9",
      clientIp: "192.0.2.9",
      tracks: { video: undefined, audioCodec: "aac", audioFormat: undefined },
    },
  ]);
});

test("no publishers: a stream with viewers only, a refused second publisher, an invalid key", () => {
  const watched = `<name>demo</name>${client(4)}${META}`;
  const twin = `<name>demo</name>${client(5)}`;
  const strange = `<name>a.b</name>${client(6, "<publishing/>")}`;
  assert.deepEqual(parseNginxStatistics(statistics(watched, twin, strange)), []);
  assert.deepEqual(parseNginxStatistics(statistics()), []);
});

test("a codec that nginx-rtmp cannot name has a size all the same", () => {
  const meta = META.replace("<codec>H264</codec>", "");
  const [stream] = parseNginxStatistics(
    statistics(`<name>demo</name>${client(3, "<publishing/>")}${meta}`),
  );
  assert.deepEqual(stream?.tracks.video, { codec: "unknown", width: 320, height: 240 });
});
