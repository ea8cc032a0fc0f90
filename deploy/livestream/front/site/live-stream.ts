import * as v from "valibot";

/** One broadcaster, as far as the page shows it. */
export interface LiveStream {
  readonly streamKey: string;
  /** Milliseconds since 1970 (UTC). */
  readonly startedMs: number;
  /** On this page's own site, whatever address the state API gives out. */
  readonly playlistPath: string;
  /** Largest first. */
  readonly qualities: readonly Quality[];
  readonly thumbnailPath: string | undefined;
}

export interface Quality {
  readonly name: string;
  /** Pixels; 0 for sound alone. */
  readonly height: number;
}

const PLAYLIST_PATH = /^\/hls\/[A-Za-z0-9_-]{1,64}\/master\.m3u8$/;
const THUMBNAIL_PATH = /^\/hls\/[A-Za-z0-9_-]{1,64}\/[A-Za-z0-9_-]{1,64}\.jpg$/;
/** Of any URL; a relative one is seen from here. */
const ANY_ORIGIN = "http://here.invalid";

const streamKey = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/));

function pathOf(pattern: RegExp) {
  return v.pipe(
    v.string(),
    v.check((address) => URL.canParse(address, ANY_ORIGIN)),
    v.transform((address) => new URL(address, ANY_ORIGIN).pathname),
    v.regex(pattern),
  );
}

const StreamSession = v.pipe(
  v.object({
    streamKey,
    startedAt: v.pipe(
      v.string(),
      v.transform((text) => Date.parse(text)),
      v.number(),
    ),
    masterPlaylistUrl: pathOf(PLAYLIST_PATH),
    qualities: v.optional(
      v.array(
        v.object({
          name: v.pipe(v.string(), v.maxLength(64)),
          height: v.optional(v.nullable(v.number(), 0), 0),
        }),
      ),
      [],
    ),
    thumbnailUrl: v.fallback(v.optional(pathOf(THUMBNAIL_PATH)), undefined),
  }),
  v.transform(
    (session): LiveStream => ({
      streamKey: session.streamKey,
      startedMs: session.startedAt,
      playlistPath: session.masterPlaylistUrl,
      qualities: session.qualities.toSorted((one, other) => other.height - one.height),
      thumbnailPath: session.thumbnailUrl,
    }),
  ),
);

const StreamList = v.object({ streams: v.array(v.unknown()) });
const ListAnswer = v.object({ data: StreamList });
const RemovedStream = v.object({ streamKey });

/** Of an answer to GET /api/streams; throws when it is not one. A stream that cannot be read is left out. */
export function readListAnswer(value: unknown): readonly LiveStream[] {
  return v.parse(ListAnswer, value).data.streams.flatMap(readOne);
}

/** Of the event `snapshot`. */
export function readSnapshot(json: string): readonly LiveStream[] {
  return v.parse(StreamList, JSON.parse(json)).streams.flatMap(readOne);
}

/** Of the events `added` and `replaced`; undefined when it cannot be read. */
export function readStream(json: string): LiveStream | undefined {
  return readOne(JSON.parse(json))[0];
}

/** Of the event `removed`. */
export function readRemovedKey(json: string): string {
  return v.parse(RemovedStream, JSON.parse(json)).streamKey;
}

function readOne(value: unknown): readonly LiveStream[] {
  const parsed = v.safeParse(StreamSession, value);
  return parsed.success ? [parsed.output] : [];
}
