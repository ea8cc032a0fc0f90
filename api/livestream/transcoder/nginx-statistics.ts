// Own code, since nginx-rtmp writes each relevant element without attributes, and the same ones for all streams.
import { plainAddress } from "../../http/request/client-address.js";
import { STREAM_KEY } from "../webhook-form.js";
import {
  type MediaServer,
  type PublishedStream,
  requestMediaServer,
  type Tracks,
} from "./published-stream.js";

/** Debian's nginx with libnginx-mod-rtmp, through its statistics. */
export class NginxStatistics implements MediaServer {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async published(): Promise<readonly PublishedStream[]> {
    return parseNginxStatistics(await requestMediaServer(this.#url));
  }
}

/** All publishers with a well-formed key. A refused second publisher of a key is a client without `<publishing/>`. */
export function parseNginxStatistics(text: string): readonly PublishedStream[] {
  const pid = inside(text, "pid");
  return blocks(text, "stream").flatMap((stream) => {
    const streamKey = inside(stream, "name");
    const client = blocks(stream, "client").find((one) => one.includes("<publishing/>"));
    if (client === undefined || !STREAM_KEY.test(streamKey)) return [];
    const session = `nginx-${pid}-${inside(client, "id")}`;
    const clientIp = plainAddress(inside(client, "address"));
    const tracks = tracksOf(blocks(stream, "meta")[0] ?? "");
    return [{ streamKey, session, clientIp: clientIp === "" ? undefined : clientIp, tracks }];
  });
}

/** Both tracks are always named; known ones have a codec. A codec that nginx-rtmp cannot name still has a size. */
function tracksOf(meta: string): Tracks {
  const [video = ""] = blocks(meta, "video");
  const [audio = ""] = blocks(meta, "audio");
  const size = { width: Number(inside(video, "width")), height: Number(inside(video, "height")) };
  const videoCodec = inside(video, "codec").toLowerCase();
  const isKnown = videoCodec !== "" || size.height > 0;
  const audioCodec = inside(audio, "codec").toLowerCase();
  const sampleRate = inside(audio, "sample_rate");
  const audioFormat =
    sampleRate === "" ? undefined : `${sampleRate} Hz, ${inside(audio, "channels")} channels`;
  return {
    video: isKnown ? { codec: videoCodec === "" ? "unknown" : videoCodec, ...size } : undefined,
    audioCodec: audioCodec === "" ? undefined : audioCodec,
    audioFormat,
  };
}

function blocks(text: string, name: string): readonly string[] {
  const pattern = new RegExp(`<${name}>(.*?)</${name}>`, "gs");
  return Array.from(text.matchAll(pattern), ([, content = ""]) => content);
}

function inside(text: string, name: string): string {
  return blocks(text, name)[0]?.trim() ?? "";
}
