import type { CancelTimer, Clock } from "../../time/clock.js";
import { VendorError } from "../contracts.js";
import type { VendorSocket } from "../transport/web-socket.js";
import { audioOf, pathOf } from "./edge-frames.js";

const VENDOR = "edge";

/** The service sends a sentence within a second or two, or not at all. */
const SILENCE_TIMEOUT_MS = 10_000;
const TURN_TIMEOUT_MS = 60_000;

/** 4,096 bytes of text are some five minutes of speech: 2 MB at 48 kbit/s. */
const TURN_MAX_BYTES = 8 * 1024 * 1024;

/** Sends one request and hands over its audio. After an error the socket must not be used again. */
export function speakTurn(
  clock: Clock,
  socket: VendorSocket,
  frame: string,
  onChunk: (audio: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let receivedBytes = 0;
    let cancelSilenceTimer: CancelTimer = () => undefined;
    const settle = (error: Error | undefined): void => {
      cancelSilenceTimer();
      cancelTurnTimer();
      signal.removeEventListener("abort", onAbort);
      socket.listen(NOBODY);
      if (error !== undefined) socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const fail = (fault: ConstructorParameters<typeof VendorError>[1], message: string): void =>
      settle(new VendorError(VENDOR, fault, `${VENDOR}: ${message}`));
    const waitForMore = (): void => {
      cancelSilenceTimer();
      cancelSilenceTimer = clock.after(SILENCE_TIMEOUT_MS, () => fail("timeout", "it fell silent"));
    };
    const onAbort = (): void => fail("aborted", "aborted");
    const cancelTurnTimer = clock.after(TURN_TIMEOUT_MS, () => fail("timeout", "too slow"));
    signal.addEventListener("abort", onAbort, { once: true });
    socket.listen({
      onText: (text) => {
        waitForMore();
        if (pathOf(text) !== "turn.end") return;
        if (receivedBytes === 0) fail("badAnswer", "ended without audio");
        else settle(undefined);
      },
      onBinary: (bytes) => {
        waitForMore();
        const audio = audioOf(bytes);
        if (audio === undefined || audio.length === 0) return;
        receivedBytes += audio.length;
        if (receivedBytes > TURN_MAX_BYTES) {
          fail("badAnswer", "the answer is too large");
          return;
        }
        try {
          onChunk(audio);
        } catch (error) {
          settle(error instanceof Error ? error : new Error(String(error)));
        }
      },
      onClosed: (code) => fail("disconnected", `closed with ${code}`),
    });
    waitForMore();
    if (signal.aborted) onAbort();
    else if (socket.isOpen) socket.sendText(frame);
    else fail("disconnected", "closed");
  });
}

const NOBODY = {
  onText: () => undefined,
  onBinary: () => undefined,
  onClosed: () => undefined,
};
