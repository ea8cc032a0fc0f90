import type {
  SpeechListener,
  Transcript,
  TurnEvent,
  VendorError,
} from "../../../engine/vendors/contracts.js";
import { Changes } from "../../doubles/changes.js";

/** Keeps what a speech stream reports, in order. */
export class RecordingListener implements SpeechListener {
  readonly #changes: Changes;
  readonly events: string[] = [];
  readonly transcripts: Transcript[] = [];
  readonly turns: TurnEvent[] = [];
  readonly utteranceEndsMs: number[] = [];
  readonly lost: VendorError[] = [];
  readonly sttOutageMs: number[] = [];
  readonly failed: VendorError[] = [];

  constructor(changes = new Changes()) {
    this.#changes = changes;
  }

  /** The settled words of all turns. */
  get finalText(): string {
    return this.transcripts
      .filter(({ isFinal, text }) => isFinal && text !== "")
      .map(({ text }) => text)
      .join(" ");
  }

  get hasSpeechFinal(): boolean {
    return this.transcripts.some(({ speechFinal, text }) => speechFinal && text !== "");
  }

  onSpeechStarted(): void {
    this.events.push("speechStarted");
    this.#changes.tell();
  }

  onTranscript(transcript: Transcript): void {
    this.events.push(transcript.isFinal ? "final" : "interim");
    this.transcripts.push(transcript);
    this.#changes.tell();
  }

  onUtteranceEnd(lastWordEndMs: number): void {
    this.events.push("utteranceEnd");
    this.utteranceEndsMs.push(lastWordEndMs);
    this.#changes.tell();
  }

  onTurn(turn: TurnEvent): void {
    this.events.push(turn.mark);
    this.turns.push(turn);
    this.#changes.tell();
  }

  onLost(error: VendorError): void {
    this.events.push("lost");
    this.lost.push(error);
    this.#changes.tell();
  }

  onRecovered(sttOutageMs: number): void {
    this.events.push("recovered");
    this.sttOutageMs.push(sttOutageMs);
    this.#changes.tell();
  }

  onFailed(error: VendorError): void {
    this.events.push("failed");
    this.failed.push(error);
    this.#changes.tell();
  }
}
