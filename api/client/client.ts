export { AgentCall, type AgentCallOptions } from "./agent-call.js";
export {
  BrowserCall,
  type BrowserCallOptions,
  type SoundDevices,
  soundDevices,
} from "./browser/browser-call.js";
export { CallError, type CallErrorCode } from "./call-error.js";
export type {
  CallEnd,
  CallEvents,
  CallState,
  Connected,
  Levels,
  MicrophoneChange,
  ToolUse,
  Turn,
  Wait,
  Words,
} from "./call-events.js";
export { OwnSound, type OwnSoundOptions } from "./own-sound.js";
export type { ToolHandler } from "./page-tools.js";
export type { Sound, SoundListener } from "./sound.js";
