import { MP3 } from "../../engine/audio/audio-format.js";
import {
  type SpeechRequest,
  type TextToSpeech,
  VendorError,
} from "../../engine/vendors/contracts.js";

interface Synthesis {
  readonly request: SpeechRequest;
  readonly signal: AbortSignal;
  readonly give: (audio: Uint8Array) => void;
  readonly finish: () => void;
  readonly fail: (error: Error) => void;
}

/** Speaks what a test has it speak, when it does; `syntheses` are the requests in their order. */
export class ScriptedVoice implements TextToSpeech {
  readonly formats = [MP3];
  readonly syntheses: Synthesis[] = [];

  synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(error);
      this.syntheses.push({ request, signal, give: onChunk, finish: resolve, fail });
      signal.addEventListener("abort", () => {
        reject(new VendorError("scripted", "aborted", "scripted: aborted"));
      });
    });
  }

  warm(): void {}
}
