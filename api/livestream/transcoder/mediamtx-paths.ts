import * as v from "valibot";
import { plainAddress, withoutPort } from "../../http/request/client-address.js";
import { STREAM_KEY } from "../webhook-form.js";
import {
  type MediaServer,
  type PublishedStream,
  requestMediaServer,
  type Tracks,
} from "./published-stream.js";

/** Connections of the control API, by the type of a path's source. */
const LISTS: Readonly<Record<string, string>> = {
  rtmpConn: "rtmpconns",
  rtmpsConn: "rtmpsconns",
  webRTCSession: "webrtcsessions",
  rtspSession: "rtspsessions",
  rtspsSession: "rtspssessions",
  srtConn: "srtconns",
};
const PATHS_MAX = 1_000;

const Properties = v.looseObject({
  width: v.optional(v.number(), 0),
  height: v.optional(v.number(), 0),
  sampleRate: v.optional(v.number()),
  channelCount: v.optional(v.number()),
});
const Track = v.object({ codec: v.string(), codecProps: v.nullish(Properties) });
const Path = v.object({
  name: v.string(),
  /** Since v1.17 `available` has the same meaning. */
  ready: v.optional(v.boolean()),
  available: v.optional(v.boolean(), true),
  source: v.nullish(v.object({ type: v.string(), id: v.optional(v.string(), "") })),
  tracks2: v.nullish(v.array(Track)),
});
const Paths = v.object({ items: v.array(Path) });
const Connection = v.object({ remoteAddr: v.string() });

/** MediaMTX, through its control API (v1.17 and later). */
export class MediaMtxPaths implements MediaServer {
  readonly #url: string;
  /** Addresses of the current sources, by their ids. */
  #addresses = new Map<string, string | undefined>();

  constructor(url: string) {
    this.#url = url;
  }

  async published(): Promise<readonly PublishedStream[]> {
    const answer = await requestMediaServer(`${this.#url}/v3/paths/list?itemsPerPage=${PATHS_MAX}`);
    const { items } = v.parse(Paths, JSON.parse(answer));
    const addresses = new Map<string, string | undefined>();
    const streams: PublishedStream[] = [];
    for (const { name, ready, available, source, tracks2 } of items) {
      const streamKey = name.startsWith("live/") ? name.slice("live/".length) : "";
      if (
        !(ready ?? available) ||
        source == null ||
        source.id === "" ||
        !STREAM_KEY.test(streamKey)
      )
        continue;
      const clientIp = this.#addresses.get(source.id) ?? (await this.#address(source));
      addresses.set(source.id, clientIp);
      streams.push({ streamKey, session: source.id, clientIp, tracks: tracksOf(tracks2 ?? []) });
    }
    this.#addresses = addresses;
    return streams;
  }

  /** Undefined if it is not reported: the connection may have gone in between. */
  async #address({ type, id }: { type: string; id: string }): Promise<string | undefined> {
    const list = LISTS[type];
    if (list === undefined) return undefined;
    try {
      const answer = await requestMediaServer(
        `${this.#url}/v3/${list}/get/${encodeURIComponent(id)}`,
      );
      return plainAddress(withoutPort(v.parse(Connection, JSON.parse(answer)).remoteAddr));
    } catch {
      return undefined;
    }
  }
}

const VIDEO = new Map([
  ["H264", "h264"],
  ["H265", "hevc"],
  ["AV1", "av1"],
  ["VP8", "vp8"],
  ["VP9", "vp9"],
  ["M-JPEG", "mjpeg"],
  ["MPEG-4 Video", "mpeg4"],
  ["MPEG-1/2 Video", "mpeg2video"],
]);

/** VP8 and VP9 have no size there. A codec that is not a video codec is audio. */
function tracksOf(tracks: readonly v.InferOutput<typeof Track>[]): Tracks {
  const video = tracks.find(({ codec }) => VIDEO.has(codec));
  const audio = tracks.find(({ codec }) => !VIDEO.has(codec) && codec !== "KLV");
  return {
    video: video && {
      codec: VIDEO.get(video.codec) ?? video.codec,
      width: video.codecProps?.width ?? 0,
      height: video.codecProps?.height ?? 0,
    },
    audioFormat: audioFormatOf(audio?.codecProps),
    audioCodec: audio && (audio.codec === "MPEG-4 Audio" ? "aac" : audio.codec.toLowerCase()),
  };
}

function audioFormatOf(properties: v.InferOutput<typeof Properties> | null | undefined) {
  return properties?.sampleRate === undefined
    ? undefined
    : `${properties.sampleRate} Hz, ${properties.channelCount ?? "?"} channels`;
}
