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
/** The record of a call is written a moment after its audio begins. */
const LOOK_UPS_MAX = 25;
const LOOK_UP_GAP_MS = 200;
/** The service ends a stream of events after a minute, and a call is shorter than these. */
const STREAMS_MAX = 120;

export interface FollowedCall {
  /** The server's URL, with its sub-path where it has one. */
  readonly url: string;
  readonly apiKey: string;
  /** Numbers of the call that no other call has at the time. */
  readonly numbers: { readonly from?: string; readonly to?: string };
  /** Aborted when the call is over. */
  readonly over: AbortSignal;
  /** Called with each reply of the agent, as far as the caller heard it. */
  readonly onReply: (text: string) => void;
}

/**
 * Follows the replies of a telephone call by REST: a telephone is sent sound alone, which a program cannot read unless it is
 * the tone code. Never rejects: without these words the call goes on.
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
    // The call is over, or its server is gone, which the call itself tells.
  }
}

/** Undefined where the key may not see calls. */
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

/** True when the call has ended. */
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
