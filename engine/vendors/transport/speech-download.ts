import { type SpeechRequest, VendorError } from "../contracts.js";
import { headerOf } from "../vendor-fault.js";
import type { StreamLimits } from "./http-stream.js";
import type { HttpVendor, VendorRequest } from "./http-vendor.js";
import { SpeechIntake } from "./speech-intake.js";
import { SpeechTail } from "./speech-tail.js";

/** A vendor without audio by then leaves the caller in silence. */
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

/**
 * Posts a text and passes on the audio as it arrives. A 200 response that is not audio, or is empty, is
 * `badAnswer`.
 */
export async function downloadSpeech(
  vendor: HttpVendor,
  request: Omit<VendorRequest, "limits" | "accept">,
  speech: SpeechRequest,
  onChunk: (audio: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  const { name } = vendor;
  let hasAudio = false;
  const take = (audio: Uint8Array): void => {
    hasAudio = true;
    onChunk(audio);
  };
  let intake = new SpeechIntake(name, speech, take);
  // The end of a body may be late by seconds after all of its audio has arrived.
  const complete = new AbortController();
  const tail = new SpeechTail(vendor.clock, speech, () => complete.abort());
  try {
    await vendor.post(
      {
        ...request,
        limits: LIMITS,
        accept: (headers) => {
          const type = headerOf(headers, "content-type") ?? "";
          if (/^(?:text\/|application\/json)/i.test(type)) {
            throw new VendorError(name, "badAnswer", `${name}: sent text instead of audio`);
          }
          intake = new SpeechIntake(name, speech, take, type);
        },
      },
      (chunk) => {
        tail.audio(chunk);
        intake.take(chunk);
        return false;
      },
      AbortSignal.any([signal, complete.signal]),
    );
  } catch (error) {
    if (!complete.signal.aborted || signal.aborted) throw error;
  } finally {
    tail.cancel();
  }
  intake.end();
  if (!hasAudio) throw new VendorError(name, "badAnswer", `${name}: sent no audio`);
}
