import { MP3, MULAW_8K, PCM_24K } from "../../audio/audio-format.js";
import type { LanguageModel, SpeechToText, TextToSpeech, VendorError } from "../contracts.js";

/** Replaces a vendor whose settings or credentials cannot be used: every request fails with the reason. */
export class UnavailableVendor implements LanguageModel, TextToSpeech, SpeechToText {
  readonly formats = [MP3, MULAW_8K, PCM_24K];
  readonly error: VendorError;

  constructor(error: VendorError) {
    this.error = error;
  }

  complete(): Promise<never> {
    return Promise.reject(this.error);
  }

  synthesize(): Promise<never> {
    return Promise.reject(this.error);
  }

  open(): Promise<never> {
    return Promise.reject(this.error);
  }

  warm(): void {}
}
