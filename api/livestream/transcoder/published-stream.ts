import { ParleyError } from "../../../storage/parley-error.js";
export interface VideoTrack {
  /** `h264`, or the media server's name of another; "unknown" if it has no name for it. */
  readonly codec: string;
  /** 0 if the media server does not report it. */
  readonly width: number;
  readonly height: number;
}

/** The tracks of a broadcast. */
export interface Tracks {
  readonly video: VideoTrack | undefined;
  /** The audio codec; `aac` is copied into HLS. */
  readonly audioCodec: string | undefined;
  /** Sample rate and channels in the media server's own notation; undefined where it does not report them. */
  readonly audioFormat?: string | undefined;
}

/** Whether the same ladder fits both. All codecs that have to be encoded again count as equal. */
export function areSameTracks(one: Tracks, other: Tracks): boolean {
  const isSameAudio =
    treatmentOf(one.audioCodec, "aac") === treatmentOf(other.audioCodec, "aac") &&
    (one.audioFormat === undefined ||
      other.audioFormat === undefined ||
      one.audioFormat === other.audioFormat);
  return (
    isSameAudio &&
    treatmentOf(one.video?.codec, "h264") === treatmentOf(other.video?.codec, "h264") &&
    one.video?.width === other.video?.width &&
    one.video?.height === other.video?.height
  );
}

function treatmentOf(codec: string | undefined, copied: string): "none" | "copied" | "encoded" {
  if (codec === undefined) return "none";
  return codec === copied ? "copied" : "encoded";
}

/** One broadcaster, as the media server reports it now. */
export interface PublishedStream {
  readonly streamKey: string;
  /** The media server's own id of the connection: another id is another broadcast. */
  readonly session: string;
  readonly clientIp: string | undefined;
  readonly tracks: Tracks;
}

export const NO_TRACKS: Tracks = { video: undefined, audioCodec: undefined };

/** The media server itself, the only source for the current broadcasters. */
export interface MediaServer {
  /** All current broadcasters. Rejects if the media server does not respond. */
  published(): Promise<readonly PublishedStream[]>;
}

/** The media server is not running: no process listens at its address. */
export class MediaServerUnreachableError extends ParleyError {
  override readonly name = "MediaServerUnreachableError";
  readonly code = "media_server_gone";
}

const ANSWER_TIMEOUT_MS = 2_000;
const ANSWER_CHARS_MAX = 4 * 1024 * 1024;

/** A GET on loopback. Throws MediaServerUnreachableError if the port is closed, another error for any other failure. */
export async function requestMediaServer(url: string): Promise<string> {
  let answer: Response;
  try {
    answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  } catch (error) {
    if (isRefused(error)) throw new MediaServerUnreachableError(`no process listens at ${url}`);
    throw error;
  }
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  if (text.length > ANSWER_CHARS_MAX) throw new Error(`${url} answered ${text.length} characters`);
  return text;
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}
