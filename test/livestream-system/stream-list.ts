import * as v from "valibot";
import { eventually } from "../system/eventually.js";

const Listing = v.object({
  success: v.literal(true),
  data: v.object({
    count: v.number(),
    streams: v.array(
      v.object({
        streamKey: v.string(),
        startedAt: v.pipe(v.string(), v.isoTimestamp()),
        clientIp: v.string(),
        masterPlaylistUrl: v.string(),
        qualities: v.array(
          v.object({
            name: v.string(),
            width: v.number(),
            height: v.number(),
            bandwidth: v.number(),
            url: v.string(),
          }),
        ),
      }),
    ),
  }),
});

export type ListedStream = v.InferOutput<typeof Listing>["data"]["streams"][number];

/** Requested as any other site would. */
export async function listedStreams(frontUrl: string): Promise<readonly ListedStream[]> {
  const answer = await fetch(`${frontUrl}/api/streams`);
  return v.parse(Listing, await answer.json()).data.streams;
}

export async function untilListed(frontUrl: string, key: string): Promise<ListedStream> {
  return eventually(`${key} to be listed`, async () => {
    const answer = await fetch(`${frontUrl}/api/streams`);
    if (!answer.ok) return undefined;
    const { data } = v.parse(Listing, await answer.json());
    return data.streams.find(({ streamKey }) => streamKey === key);
  });
}

export async function untilGone(frontUrl: string, key: string, timeoutMs?: number): Promise<void> {
  const look = async () => {
    const streams = await listedStreams(frontUrl);
    return streams.every(({ streamKey }) => streamKey !== key) || undefined;
  };
  await eventually(`${key} to be gone`, look, timeoutMs);
}
