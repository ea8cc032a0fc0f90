import { isSameFormat } from "../audio/audio-format.js";
import type { LegAudio } from "../conversation/leg-audio.js";
import {
  type SpeechFormat,
  type SpeechRequest,
  type TextToSpeech,
  VendorError,
} from "../vendors/contracts.js";

/** A voice that stands in for one whose format it does not give: what it says is converted on the way. */
export class ConvertedVoice implements TextToSpeech {
  readonly formats: readonly SpeechFormat[];
  readonly #client: TextToSpeech;
  readonly #audio: LegAudio;

  private constructor(format: SpeechFormat, client: TextToSpeech, audio: LegAudio) {
    this.formats = [format];
    this.#client = client;
    this.#audio = audio;
  }

  /** The client as it is, where it gives the format. */
  static giving(format: SpeechFormat, client: TextToSpeech, audio: LegAudio): TextToSpeech {
    const isGiven = client.formats.some((each) => isSameFormat(each, format));
    return isGiven ? client : new ConvertedVoice(format, client, audio);
  }

  async synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const format = this.#audio.sentenceFormat(this.#client, request.format);
    const broken = new AbortController();
    const over = new AbortController();
    const listener = {
      onPiece: (audio: Uint8Array) => onChunk(audio),
      onBroken: (error: unknown) => broken.abort(error),
    };
    const converter = format.open(listener, AbortSignal.any([signal, over.signal]));
    try {
      const until = AbortSignal.any([signal, broken.signal]);
      const write = (chunk: Uint8Array) => converter.write(chunk);
      const onFormat = (given: SpeechFormat): boolean => converter.takeAs(given);
      await this.#client.synthesize({ ...request, format: format.request, onFormat }, write, until);
      await converter.end();
    } catch (error) {
      over.abort();
      throw broken.signal.aborted ? unusable(broken.signal.reason) : error;
    }
    if (broken.signal.aborted) throw unusable(broken.signal.reason);
  }

  warm(): void {
    this.#client.warm();
  }
}

function unusable(cause: unknown): VendorError {
  return new VendorError("audioPool", "badAnswer", "the audio could not be converted", { cause });
}
