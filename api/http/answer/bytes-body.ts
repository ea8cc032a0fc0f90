import type { HttpResponse } from "../front/front.js";
import type { HttpServer } from "../server.js";

/** The part of the server that waits, when it stops, for answers that are under way. */
export type OpenRequests = Pick<HttpServer, "requestOpened" | "requestClosed">;

/**
 * Ends an answer, whose head is written, with bytes that others may be sent at the same time. What the system does not
 * take is offered again when the client has read, so a slow client holds none of our memory. A second request that a
 * client sends meanwhile closes its connection. Called within a cork.
 */
export function sendBytes(response: HttpResponse, bytes: Uint8Array, server: OpenRequests): void {
  let isOpen = false;
  response.onAborted(() => {
    if (isOpen) server.requestClosed();
    isOpen = false;
  });
  const [, isDone] = response.tryEnd(bytes, bytes.length);
  if (isDone) return;
  isOpen = true;
  server.requestOpened();
  response.onWritable((sent) => {
    let isTaken = false;
    response.cork(() => {
      const [isWhole, isOver] = response.tryEnd(bytes.subarray(sent), bytes.length);
      isTaken = isWhole || isOver;
    });
    if (isTaken && isOpen) {
      isOpen = false;
      server.requestClosed();
    }
    return isTaken;
  });
}
