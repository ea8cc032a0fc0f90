import type { CallTransfer, Ending } from "../../engine/conversation/call-end.js";
import type {
  CallerChannel,
  ClientToolAnswer,
  ClientToolCall,
  DtmfOutcome,
  SentenceId,
} from "../../engine/conversation/caller-channel.js";
import type { ClientMessage } from "../../engine/conversation/effects.js";

/** Keeps what a caller is sent. */
export class RecordingCaller implements CallerChannel {
  readonly messages: ClientMessage[] = [];
  readonly sounds: (SentenceId & { readonly audio: Uint8Array; readonly isLast: boolean })[] = [];
  readonly endings: Ending[] = [];
  readonly digits: string[] = [];
  readonly transfers: string[] = [];
  readonly toolCalls: ClientToolCall[] = [];
  /** Whether the vendor of the line takes calls on. */
  takesTransfers = false;
  isHeld = false;

  send(message: ClientMessage): void {
    this.messages.push(message);
  }

  sendAudio(audio: Uint8Array, sentence: SentenceId, isLast: boolean): void {
    this.sounds.push({ ...sentence, audio, isLast });
  }

  pauseOutput(): void {
    this.isHeld = true;
  }

  resumeAudio(): void {
    this.isHeld = false;
  }

  sendDigits(digits: string): Promise<DtmfOutcome> {
    this.digits.push(digits);
    return Promise.resolve("pressed");
  }

  transfer({ to }: CallTransfer): Promise<boolean> {
    this.transfers.push(to);
    return Promise.resolve(this.takesTransfers);
  }

  useTool(call: ClientToolCall): Promise<ClientToolAnswer> {
    this.toolCalls.push(call);
    return Promise.resolve({ result: "done" });
  }

  end(ending: Ending): void {
    this.endings.push(ending);
  }
}
