import type { CancelTimer, Clock } from "../../time/clock.js";
import { type SpokenWord, VendorError, type VendorFault } from "../contracts.js";
import type { VendorSocket } from "../transport/web-socket.js";

/** A voice sends a sentence within a second or two, or not at all. */
const SILENCE_TIMEOUT_MS = 10_000;
const TURN_TIMEOUT_MS = 60_000;

/** Three minutes of PCM at 24 kHz, or many more of MP3: longer than any sentence. */
const TURN_MAX_BYTES = 8 * 1024 * 1024;

/** What a message of the vendor says about the sentence that was asked for. */
export type Said =
  | { readonly kind: "audio"; readonly bytes: Uint8Array }
  | { readonly kind: "words"; readonly words: readonly SpokenWord[] }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly fault: VendorFault; readonly message: string };

export interface TurnReader {
  text(text: string): readonly Said[];
  binary(bytes: Uint8Array): readonly Said[];
}

export interface SpokenTurn {
  readonly vendor: string;
  readonly clock: Clock;
  readonly socket: VendorSocket;
  /** The messages that ask for the sentence. */
  readonly frames: readonly string[];
  readonly reader: TurnReader;
  readonly onChunk: (audio: Uint8Array) => void;
  readonly onWords?: ((words: readonly SpokenWord[]) => void) | undefined;
  readonly signal: AbortSignal;
  /** Takes the socket of a sentence that was aborted; left out, it is broken. */
  readonly onLeft?: (() => void) | undefined;
}

/** Asks for one sentence and hands over its audio. After an error the socket is broken, or whose `onLeft` it is. */
export function speakTurn(turn: SpokenTurn): Promise<void> {
  const { vendor, clock, socket, reader, signal } = turn;
  return new Promise((resolve, reject) => {
    let receivedBytes = 0;
    let isSettled = false;
    let cancelSilenceTimer: CancelTimer = () => undefined;
    const settle = (error: Error | undefined): void => {
      isSettled = true;
      cancelSilenceTimer();
      cancelTurnTimer();
      signal.removeEventListener("abort", onAbort);
      socket.listen(NOBODY);
      if (error !== undefined) letGo(turn);
      if (error === undefined) resolve();
      else reject(error);
    };
    const fail = (fault: VendorFault, message: string): void =>
      settle(new VendorError(vendor, fault, `${vendor}: ${message}`));
    const waitForMore = (): void => {
      cancelSilenceTimer();
      cancelSilenceTimer = clock.after(SILENCE_TIMEOUT_MS, () => fail("timeout", "it fell silent"));
    };
    const onAbort = (): void => fail("aborted", "aborted");
    const hear = (said: Said): void => {
      if (said.kind === "failed") fail(said.fault, said.message);
      else if (said.kind === "words") turn.onWords?.(said.words);
      else if (said.kind === "audio" && said.bytes.length > 0) {
        receivedBytes += said.bytes.length;
        if (receivedBytes > TURN_MAX_BYTES) fail("badAnswer", "the answer is too large");
        else turn.onChunk(said.bytes);
      } else if (said.kind === "done" && receivedBytes === 0) {
        fail("badAnswer", "ended without audio");
      } else if (said.kind === "done") settle(undefined);
    };
    const take = (all: readonly Said[]): void => {
      waitForMore();
      try {
        for (const said of all) if (!isSettled) hear(said);
      } catch (error) {
        settle(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const cancelTurnTimer = clock.after(TURN_TIMEOUT_MS, () => fail("timeout", "too slow"));
    signal.addEventListener("abort", onAbort);
    socket.listen({
      onText: (text) => take(reader.text(text)),
      onBinary: (bytes) => take(reader.binary(bytes)),
      onClosed: (code) => fail("disconnected", `closed with ${code}`),
    });
    waitForMore();
    if (signal.aborted) onAbort();
    else if (!socket.isOpen) fail("disconnected", "closed");
    else for (const frame of turn.frames) socket.sendText(frame);
  });
}

function letGo({ socket, signal, onLeft }: SpokenTurn): void {
  if (signal.aborted && socket.isOpen && onLeft !== undefined) onLeft();
  else socket.destroy();
}

const NOBODY = {
  onText: () => undefined,
  onBinary: () => undefined,
  onClosed: () => undefined,
};
