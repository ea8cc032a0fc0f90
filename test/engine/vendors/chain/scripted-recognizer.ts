import type {
  SpeechListener,
  SpeechStream,
  SpeechToText,
} from "../../../../engine/vendors/contracts.js";

/** A stream of a scripted recognizer: what it was given, and the one to tell what it hears. */
export class ScriptedEar implements SpeechStream {
  readonly listener: SpeechListener;
  readonly written: Uint8Array[] = [];
  isClosed = false;
  isFinished = false;

  constructor(listener: SpeechListener) {
    this.listener = listener;
  }

  get writtenBytes(): number {
    return this.written.reduce((sum, { length }) => sum + length, 0);
  }

  write(audio: Uint8Array): void {
    this.written.push(audio.slice());
  }

  finish(): Promise<void> {
    this.isFinished = true;
    return Promise.resolve();
  }

  close(): void {
    this.isClosed = true;
  }

  /** Words that will not change any more. */
  says(text: string, lastWordEndMs: number | undefined): void {
    this.listener.onTranscript({ text, isFinal: true, speechFinal: false, lastWordEndMs });
  }
}

/** Opens a stream immediately, or fails with the first of `failures`, or responds on request. */
export class ScriptedRecognizer implements SpeechToText {
  readonly ears: ScriptedEar[] = [];
  /** The listeners of all requested streams, whether or not they were opened. */
  readonly listeners: SpeechListener[] = [];
  readonly signals: AbortSignal[] = [];
  readonly failures: unknown[] = [];
  isStalled = false;
  answer: () => void = () => undefined;
  askedCount = 0;

  async open(
    _options: unknown,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    this.askedCount += 1;
    this.listeners.push(listener);
    this.signals.push(signal);
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    if (this.isStalled) {
      await new Promise<void>((resolve, reject) => {
        this.answer = resolve;
        signal.addEventListener("abort", () => reject(new Error("nobody waits")));
      });
    }
    const ear = new ScriptedEar(listener);
    this.ears.push(ear);
    return ear;
  }

  get newest(): ScriptedEar {
    const ear = this.ears.at(-1);
    if (ear === undefined) throw new Error("it was not asked");
    return ear;
  }
}
