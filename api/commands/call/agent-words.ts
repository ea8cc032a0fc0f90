import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { serverAddress } from "../../client/call-address.js";
import { serverEvents } from "../../console/model/server-events.js";

const Calls = v.object({ items: v.array(v.object({ _id: v.string() })) });
const TranscriptWords = v.object({
  role: v.picklist(["user", "assistant"]),
  text: v.string(),
  isFinal: v.boolean(),
});
const Words = v.pipe(v.string(), v.parseJson(), TranscriptWords);
const Present = v.pipe(v.string(), v.parseJson(), v.object({ words: v.array(TranscriptWords) }));

const ANSWER_MAX_MS = 5_000;
/** The server stores a call's record shortly after its audio begins. */
const LOOK_UPS_MAX = 25;
const LOOK_UP_GAP_MS = 200;
/** The service ends an event stream after one minute; no call lasts longer than this many streams. */
const STREAMS_MAX = 120;

export interface FollowedCall {
  /** The server's URL, with its sub-path if it has one. */
  readonly url: string;
  readonly apiKey: string;
  /** Phone numbers that identify the call: no other active call has them. */
  readonly numbers: { readonly from?: string; readonly to?: string };
  /** Aborted when the call is over. */
  readonly over: AbortSignal;
  /** Called with the text of each agent reply, as far as the caller heard it. */
  readonly onReply: (text: string) => void;
}

/**
 * Follows the replies of a telephone call over the REST API. A telephone receives only audio, which this program can
 * read only if it is the tone code. Never rejects: without these texts the call continues.
 */
export async function followReplies(call: FollowedCall): Promise<void> {
  const headers = { "x-api-key": call.apiKey };
  const base = call.url.replace(/^ws/, "http");
  try {
    const id = await callId(base, headers, call);
    if (id === undefined) return;
    for (let stream = 0; stream < STREAMS_MAX; stream += 1) {
      const address = serverAddress(base, `/api/dashboard/calls/${id}/events`);
      const response = await fetch(address, { headers, signal: call.over });
      if (!response.ok || response.body === null) return;
      if (await readReplies(response.body, call.onReply)) return;
    }
  } catch {
    // The call has ended, or the server is gone; the call itself reports that.
  }
}

/** Returns undefined if the key may not read calls. */
async function callId(
  base: string,
  headers: Readonly<Record<string, string>>,
  { numbers, over }: FollowedCall,
): Promise<string | undefined> {
  const address = serverAddress(base, "/api/dashboard/calls");
  address.searchParams.set("status", "active");
  for (const [name, number] of Object.entries(numbers)) address.searchParams.set(name, number);
  for (let attempt = 0; attempt < LOOK_UPS_MAX; attempt += 1) {
    const signal = AbortSignal.any([over, AbortSignal.timeout(ANSWER_MAX_MS)]);
    const response = await fetch(address, { headers, signal });
    if (!response.ok) return undefined;
    const [found] = v.parse(Calls, await response.json()).items;
    if (found !== undefined) return found._id;
    await pause(LOOK_UP_GAP_MS, undefined, { signal: over });
  }
  return undefined;
}

/** Resolves to true if the call has ended. */
async function readReplies(
  body: ReadableStream<Uint8Array>,
  onReply: (text: string) => void,
): Promise<boolean> {
  for await (const { name, data } of serverEvents(body)) {
    if (name === "ended") return true;
    const words =
      name === "words"
        ? [v.parse(Words, data)]
        : name === "present"
          ? v.parse(Present, data).words
          : [];
    for (const { role, text, isFinal } of words) {
      if (role === "assistant" && isFinal) onReply(text);
    }
  }
  return false;
}
