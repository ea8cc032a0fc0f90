import type { HttpResponse } from "../front/front.js";
import type { DownloadAnswer } from "./download-answer.js";

/** Held in memory for each client that downloads. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Sends the file's bytes as fast as the client takes them. Resolves when all is sent or the client has gone; rejects, with
 * the connection broken off, when the file cannot be read. The response's head is written.
 */
export async function sendDownload(
  response: HttpResponse,
  { file, from, sizeBytes }: DownloadAnswer,
  gone: AbortSignal,
): Promise<void> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  let sent = 0;
  while (sent < sizeBytes && !gone.aborted) {
    const wanted = buffer.subarray(0, Math.min(CHUNK_BYTES, sizeBytes - sent));
    const count = await file.read(wanted, from + sent);
    if (gone.aborted) return;
    if (count === 0) {
      response.close();
      throw new Error("a file is shorter than it was");
    }
    await sendChunk(response, wanted.subarray(0, count), sent, sizeBytes, gone);
    sent += count;
  }
}

/** uWebSockets.js takes a part of the chunk when the client does not read; the rest is offered when it does. */
function sendChunk(
  response: HttpResponse,
  chunk: Uint8Array,
  offset: number,
  sizeBytes: number,
  gone: AbortSignal,
): Promise<void> {
  const { promise, resolve } = deferred();
  gone.addEventListener("abort", resolve, { once: true });
  const offer = (part: Uint8Array) => {
    let isTaken = false;
    response.cork(() => {
      const [ok, done] = response.tryEnd(part, sizeBytes);
      isTaken = ok || done;
    });
    if (isTaken) resolve();
    return isTaken;
  };
  response.onWritable((writtenTo) => offer(chunk.subarray(writtenTo - offset)));
  offer(chunk);
  return promise.finally(() => gone.removeEventListener("abort", resolve));
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
