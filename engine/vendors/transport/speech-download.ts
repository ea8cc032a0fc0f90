import { VendorError } from "../contracts.js";
import { headerOf } from "../vendor-fault.js";
import type { StreamLimits } from "./http-stream.js";
import type { HttpVendor, VendorRequest } from "./http-vendor.js";

/** A vendor that has not begun to speak by then leaves the caller in silence. */
const FIRST_BYTE_TIMEOUT_MS = 10_000;
const BETWEEN_BYTES_TIMEOUT_MS = 5_000;
const TOTAL_TIMEOUT_MS = 60_000;
/** More than ten minutes of speech at 96 kbit/s, for one sentence. */
const REPLY_MAX_BYTES = 8 * 1024 * 1024;

const LIMITS: StreamLimits = {
  firstByteMs: FIRST_BYTE_TIMEOUT_MS,
  betweenBytesMs: BETWEEN_BYTES_TIMEOUT_MS,
  totalMs: TOTAL_TIMEOUT_MS,
  replyMaxBytes: REPLY_MAX_BYTES,
};

/** Posts a text and hands over the audio as it is made. An answer of 200 that is no audio, or is empty, is `badAnswer`. */
export async function downloadSpeech(
  vendor: HttpVendor,
  request: Omit<VendorRequest, "limits" | "accept">,
  onChunk: (audio: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  const { name } = vendor;
  let receivedBytes = 0;
  await vendor.post(
    {
      ...request,
      limits: LIMITS,
      accept: (headers) => {
        const type = headerOf(headers, "content-type") ?? "";
        if (/^(?:text\/|application\/json)/i.test(type)) {
          throw new VendorError(name, "badAnswer", `${name}: sent text where audio was due`);
        }
      },
    },
    (chunk) => {
      receivedBytes += chunk.length;
      onChunk(chunk);
      return false;
    },
    signal,
  );
  if (receivedBytes === 0) throw new VendorError(name, "badAnswer", `${name}: sent no audio`);
}
