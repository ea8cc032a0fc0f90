import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import type { CancelTimer } from "../../../../engine/time/clock.js";
import type {
  ListenOptions,
  SpeechStream,
  SpeechToText,
} from "../../../../engine/vendors/contracts.js";
import { deepgramNova } from "../../../../engine/vendors/deepgram/deepgram-nova.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { Changes } from "../../../doubles/changes.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { RecordingListener } from "../recording-listener.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedSocketServer } from "../scripted-socket-server.js";

export const LISTENING: ListenOptions = {
  language: "en-US",
  modelId: "nova-3",
  format: PCM_16K,
  endpointingMs: 200,
};

export const BYTES_PER_MS = 32;
export const FRAME_BYTES = 20 * BYTES_PER_MS;
/** The silence that each connection begins with. */
export const OPENING_BYTES = 100 * BYTES_PER_MS;

class CountingClock extends VirtualClock {
  startedTimerCount = 0;
  readonly #changes: Changes;

  constructor(changes: Changes) {
    super();
    this.#changes = changes;
  }

  override after(delayMs: number, action: () => void): CancelTimer {
    this.startedTimerCount++;
    this.#changes.tell();
    return super.after(delayMs, action);
  }
}

/** A Deepgram that does only what the test says, a clock moved by hand, and the client between them. */
export class ScriptedDeepgram {
  /** Changes of the clock's timers, of what the server gets, and of what the listener is told. */
  readonly changes = new Changes();
  readonly clock = new CountingClock(this.changes);
  readonly server = new ScriptedSocketServer(this.changes);
  readonly listener = new RecordingListener(this.changes);
  readonly connections = new Connections({ clock: this.clock, allowPrivateAddresses: false });

  client(settings = {}): SpeechToText {
    const given = { baseUrl: this.server.url, apiKey: "dg-key", settings, clientOwned: false };
    return deepgramNova(given, this);
  }

  open(options = LISTENING): Promise<SpeechStream> {
    return this.client().open(options, this.listener, never());
  }

  async close(): Promise<void> {
    await this.connections.close();
    await this.server.close();
  }
}

/** Frames of 20 ms that are distinguished by their bytes: 1, 2, 3 and so on. */
export function numberedFrames(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, n) => new Uint8Array(FRAME_BYTES).fill(n + 1));
}

/** A guess at words of half a second each, from the beginning of the caller's audio on. */
export function interimResults(...texts: readonly string[]): string {
  const words = texts.map((word, at) => ({ word, start: 0.1 + at / 2, end: 0.6 + at / 2 }));
  return JSON.stringify({
    type: "Results",
    start: 0,
    duration: texts.length / 2,
    is_final: false,
    channel: { alternatives: [{ transcript: texts.join(" "), words }] },
  });
}

export function finalResults(text: string, startSec: number, endSec: number): string {
  const words = [{ word: text, start: startSec, end: endSec, confidence: 1 }];
  return JSON.stringify({
    type: "Results",
    channel_index: [0, 1],
    start: startSec,
    duration: endSec - startSec + 0.3,
    is_final: true,
    channel: { alternatives: [{ transcript: ` ${text} `, confidence: 1, words }] },
  });
}
