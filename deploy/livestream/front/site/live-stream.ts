import * as v from "valibot";

/** One broadcaster, with the data that the page shows. */
export interface LiveStream {
  readonly streamKey: string;
  /** Milliseconds since 1970 (UTC). */
  readonly startedMs: number;
  /** A path on this page's own site, whatever address the state API reports. */
  readonly playlistPath: string;
  /** The largest quality first. */
  readonly qualities: readonly Quality[];
  readonly thumbnailPath: string | undefined;
  /** Whether watching requires a token. */
  readonly isPrivate: boolean;
  /** Undefined if viewers are not counted. */
  readonly viewers: number | undefined;
}

export interface Quality {
  readonly name: string;
  /** In pixels; 0 for audio only. */
  readonly height: number;
}

const PLAYLIST_PATH = /^\/hls\/[A-Za-z0-9_-]{1,64}\/master\.m3u8$/;
const THUMBNAIL_PATH = /^\/hls\/[A-Za-z0-9_-]{1,64}\/[A-Za-z0-9_-]{1,64}\.jpg$/;
/** Relative URLs are resolved against this base, a host that does not exist. */
const ANY_ORIGIN = "http://here.invalid";

const viewerCount = v.pipe(v.number(), v.integer(), v.minValue(0));
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
    private: v.fallback(v.optional(v.boolean(), false), false),
    viewers: v.fallback(v.optional(viewerCount), undefined),
  }),
  v.transform(
    (session): LiveStream => ({
      streamKey: session.streamKey,
      startedMs: session.startedAt,
      playlistPath: session.masterPlaylistUrl,
      qualities: session.qualities.toSorted((one, other) => other.height - one.height),
      thumbnailPath: session.thumbnailUrl,
      isPrivate: session.private,
      viewers: session.viewers,
    }),
  ),
);

const StreamList = v.object({ streams: v.array(v.unknown()) });
const ListAnswer = v.object({ data: StreamList });
const ViewerCounts = v.record(streamKey, viewerCount);
const RemovedStream = v.object({ streamKey });

/** Parses a response to GET /api/streams and omits streams that are invalid. Throws if it is not such a response. */
export function readListAnswer(value: unknown): readonly LiveStream[] {
  return v.parse(ListAnswer, value).data.streams.flatMap(readOne);
}

/** Parses the `data` of a `snapshot` event. Throws if it contains no list. */
export function readSnapshot(json: string): readonly LiveStream[] {
  return v.parse(StreamList, JSON.parse(json)).streams.flatMap(readOne);
}

/** Parses the `data` of an `added` or `replaced` event. Returns undefined if the stream is invalid. */
export function readStream(json: string): LiveStream | undefined {
  return readOne(JSON.parse(json))[0];
}

/** Returns the key in the `data` of a `removed` event. Throws if it contains none. */
export function readRemovedKey(json: string): string {
  return v.parse(RemovedStream, JSON.parse(json)).streamKey;
}

/** Returns the viewer counts by stream key in the `data` of a `viewers` event. Throws if it contains none. */
export function readViewerCounts(json: string): ReadonlyMap<string, number> {
  return new Map(Object.entries(v.parse(ViewerCounts, JSON.parse(json))));
}

function readOne(value: unknown): readonly LiveStream[] {
  const parsed = v.safeParse(StreamSession, value);
  return parsed.success ? [parsed.output] : [];
}
