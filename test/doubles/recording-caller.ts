import type { CallerChannel, SentenceId } from "../../engine/session/caller-channel.js";
import type { ClientMessage } from "../../engine/session/effects.js";
import type { Ending } from "../../engine/session/ending.js";

/** Keeps what a caller is sent. */
export class RecordingCaller implements CallerChannel {
  readonly messages: ClientMessage[] = [];
  readonly sounds: (SentenceId & { readonly audio: Uint8Array; readonly isLast: boolean })[] = [];
  readonly endings: Ending[] = [];
  readonly digits: string[] = [];
  readonly transfers: string[] = [];
  /** Whether the vendor of the line takes calls on. */
  takesTransfers = false;
  isHeld = false;

  send(message: ClientMessage): void {
    this.messages.push(message);
  }

  sendAudio(audio: Uint8Array, sentence: SentenceId, isLast: boolean): void {
    this.sounds.push({ ...sentence, audio, isLast });
  }

  holdAudio(): void {
    this.isHeld = true;
  }

  resumeAudio(): void {
    this.isHeld = false;
  }

  sendDigits(digits: string): boolean {
    this.digits.push(digits);
    return true;
  }

  transfer(to: string): Promise<boolean> {
    this.transfers.push(to);
    return Promise.resolve(this.takesTransfers);
  }

  end(ending: Ending): void {
    this.endings.push(ending);
  }
}
