import { AgentCall, type AgentCallOptions } from "../agent-call.js";
import { serverAddress } from "../call-address.js";
import { BrowserSound } from "./browser-sound.js";

declare global {
  /** The build inserts the worklet's path with the file's content hash. */
  var PARLEY_WORKLET_PATH: string | undefined;
}

/** The worklet's path without a hash, which every server serves, whatever its version. */
const WORKLET_PATH = "/client/audio-worklet.js";

export interface BrowserCallOptions extends Omit<AgentCallOptions, "sound" | "server"> {
  /**
   * Such as `https://voice.example.com`, or `https://example.com/voice`; default: the server that the page came
   * from.
   */
  readonly server?: string | undefined;
  readonly microphoneId?: string | undefined;
  /** False: a call without a microphone starts anyway, reports the reason as a `fault`, and continues by `write`. */
  readonly isMicrophoneNeeded?: boolean | undefined;
  /** False: the browser does not ask for a microphone; `sound.useMicrophone()` asks for it later. */
  readonly opensMicrophone?: boolean | undefined;
  /** The AudioWorklet on a page of another site that serves it itself; default: the server's. */
  readonly workletUrl?: string | undefined;
}

/** A call with the page's microphone and loudspeaker. */
export class BrowserCall extends AgentCall {
  /** For the choice of devices. */
  readonly sound: BrowserSound;

  constructor(options: BrowserCallOptions) {
    const server = options.server ?? globalThis.location.origin;
    const path = typeof PARLEY_WORKLET_PATH === "string" ? PARLEY_WORKLET_PATH : WORKLET_PATH;
    // The call's start reports an invalid server address.
    const own = URL.canParse("/", server) ? serverAddress(server, path).href : path;
    const workletUrl = options.workletUrl ?? own;
    const { microphoneId, isMicrophoneNeeded, opensMicrophone, clock } = options;
    const microphone = { microphoneId, isMicrophoneNeeded, opensMicrophone };
    const sound = new BrowserSound({ workletUrl, ...microphone, clock });
    super({ ...options, server, sound });
    this.sound = sound;
    const onOffline = () => this.networkLost();
    globalThis.addEventListener("offline", onOffline);
    this.on("ended", () => globalThis.removeEventListener("offline", onOffline));
  }
}

export interface SoundDevices {
  readonly microphones: readonly MediaDeviceInfo[];
  readonly loudspeakers: readonly MediaDeviceInfo[];
}

/**
 * Lists the available devices: no loudspeakers if the browser cannot select them. Labels are empty until the page has
 * had microphone access once.
 */
export async function soundDevices(): Promise<SoundDevices> {
  const devices = (await globalThis.navigator.mediaDevices?.enumerateDevices()) ?? [];
  const hasChoice = typeof AudioContext === "function" && "setSinkId" in AudioContext.prototype;
  return {
    microphones: devices.filter(({ kind }) => kind === "audioinput"),
    loudspeakers: devices.filter(({ kind }) => hasChoice && kind === "audiooutput"),
  };
}
