import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import type { ChainWatch } from "../../../../engine/vendors/chain/chain.js";
import { ChainedRecognizer } from "../../../../engine/vendors/chain/stt-chain.js";
import {
  type SpeechStream,
  VendorError,
  type VendorFault,
} from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { FRAME_MS } from "../../../doubles/voiced-frames.js";
import { RecordingListener } from "../recording-listener.js";
import { chainOf } from "./chain-of.js";
import { ScriptedRecognizer } from "./scripted-recognizer.js";

export const PATIENCE_MS = 3_000;
export const BYTES_PER_MS = 32;
const OPTIONS = { language: "en", modelId: "any", format: PCM_16K, endpointingMs: 200 } as const;

export function fault(kind: VendorFault = "disconnected"): VendorError {
  return new VendorError("first", kind, `first: ${kind}`);
}

/** A call with two STTs in a chain, with all their events. */
export class ChainedEars {
  readonly clock = new VirtualClock();
  readonly answers = new AnswerLog();
  listener = new RecordingListener();
  first = new ScriptedRecognizer();
  second = new ScriptedRecognizer();
  readonly told: unknown[] = [];

  async open(signal = new AbortController().signal): Promise<SpeechStream> {
    const named = (vendor: string, client: ScriptedRecognizer) => ({
      vendor,
      modelId: "m",
      client,
    });
    const links = [named("first", this.first), named("second", this.second)] as const;
    const chain = chainOf("stt", this.clock, this.#watch(), links);
    return new ChainedRecognizer(chain, PATIENCE_MS).open(OPTIONS, this.listener, signal);
  }

  #watch(): ChainWatch {
    return {
      answered: (category, link) => {
        this.told.push(["answered", link.vendor]);
        this.answers.answered(category, link);
      },
      failed: (category, link, error, wasted) => {
        this.told.push(["failed", link.vendor, error.fault, error.message, wasted]);
        this.answers.failed(category, link, error, wasted);
      },
      hedged: (...all) => this.answers.hedged(...all),
    };
  }

  /** Resolved promises have run. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.settled();
  }

  write(stream: SpeechStream, sound: Uint8Array, durationMs: number): void {
    for (let at = 0; at < durationMs; at += FRAME_MS) stream.write(sound);
  }
}
