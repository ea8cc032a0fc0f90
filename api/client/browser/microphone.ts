import { CallError, type CallErrorCode } from "../call-error.js";
import type { MicrophoneChange } from "../call-events.js";

export const PAGE_NOT_SECURE =
  "Browsers give the microphone to pages on https: only. Open this page with https.";

const FOR_THE_OWNER =
  "For the site's owner: if the page is in a frame, add " +
  'allow="microphone" to the iframe, and let the header Permissions-Policy say microphone=(self), with the origin of the frame.';
/** A page without microphone permission cannot ask for it, whatever its visitor allows. */
const NOT_PERMITTED = `This page may not use the microphone: the site must permit it. ${FOR_THE_OWNER}`;

const WORDS: Readonly<Record<string, readonly [code: CallErrorCode, message: string]>> = {
  NotAllowedError: [
    "microphoneDenied",
    "Microphone access is blocked. Allow it for this page in the browser's settings, then try again.",
  ],
  NotFoundError: ["microphoneMissing", "No microphone was found. Plug one in, then try again."],
  NotReadableError: [
    "microphoneBusy",
    "The microphone cannot be used: another program may be using it. Close that program, then try again.",
  ],
};

/** The microphone of a call, which may be changed during the call. */
export class Microphone {
  readonly #target: AudioNode;
  readonly #onChange: (change: MicrophoneChange) => void;
  #stream: MediaStream | undefined;
  #source: MediaStreamAudioSourceNode | undefined;
  #isMuted = false;
  #isClosed = false;

  /** The microphone's audio goes to `target`. */
  constructor(target: AudioNode, onChange: (change: MicrophoneChange) => void) {
    this.#target = target;
    this.#onChange = onChange;
  }

  /** Opens the device, or the system's choice, instead of the previous one. Rejects with a CallError. */
  async open(deviceId?: string): Promise<void> {
    const stream = await opened(deviceId);
    if (this.#isClosed) return stopTracks(stream);
    this.#drop();
    this.#stream = stream;
    this.#source = new MediaStreamAudioSourceNode(context(this.#target), { mediaStream: stream });
    this.#source.connect(this.#target);
    this.setMuted(this.#isMuted);
    for (const track of stream.getAudioTracks()) {
      track.addEventListener("ended", () => this.#onTrackLost(stream, track));
      track.addEventListener("mute", () => this.#changed(stream, track, "muted"));
      track.addEventListener("unmute", () => this.#changed(stream, track, "open"));
      const { deviceId: id = "" } = track.getSettings();
      this.#onChange({ state: "open", label: track.label, deviceId: id });
      if (track.muted) this.#changed(stream, track, "muted");
    }
  }

  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted;
    for (const track of this.#stream?.getAudioTracks() ?? []) track.enabled = !isMuted;
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #drop(): void {
    this.#source?.disconnect();
    if (this.#stream !== undefined) stopTracks(this.#stream);
    this.#stream = undefined;
  }

  /** The system, or a mute key, has muted or unmuted the device. */
  #changed(stream: MediaStream, track: MediaStreamTrack, state: "muted" | "open"): void {
    if (stream !== this.#stream) return;
    const { deviceId = "" } = track.getSettings();
    this.#onChange({ state, label: track.label, deviceId });
  }

  #onTrackLost(stream: MediaStream, { label }: MediaStreamTrack): void {
    if (stream !== this.#stream) return;
    this.#drop();
    this.#onChange({ state: "lost", label, deviceId: "" });
  }
}

async function opened(deviceId: string | undefined): Promise<MediaStream> {
  const devices: Partial<MediaDevices> | undefined = globalThis.navigator.mediaDevices;
  if (devices?.getUserMedia === undefined) {
    throw new CallError("pageNotSecure", PAGE_NOT_SECURE);
  }
  const audio: MediaTrackConstraints = {
    echoCancellation: true,
    noiseSuppression: true,
    autoGainControl: true,
    channelCount: 1,
    ...(deviceId !== undefined && { deviceId: { exact: deviceId } }),
  };
  try {
    return await navigator.mediaDevices.getUserMedia({ audio });
  } catch (error) {
    // The chosen device is gone: any other is better than none.
    if (deviceId !== undefined && nameOf(error) === "OverconstrainedError")
      return opened(undefined);
    throw openFault(error);
  }
}

function openFault(error: unknown): CallError {
  const options = { cause: error };
  const isPermitted = isMicrophonePermitted();
  // Chromium reports a missing device in this way on a machine without one.
  if (isPermitted === false) {
    return new CallError("microphoneNotPermitted", NOT_PERMITTED, options);
  }
  const [code, message] = WORDS[nameOf(error)] ?? [
    "microphoneMissing",
    "The microphone cannot be used.",
  ];
  // Firefox and Safari do not tell a frame whether its visitor or its site has refused.
  const isFrame = globalThis.self !== globalThis.top;
  const isUnclear = code === "microphoneDenied" && isPermitted === undefined && isFrame;
  return new CallError(code, isUnclear ? `${message} ${FOR_THE_OWNER}` : message, options);
}

interface FeaturePolicy {
  allowsFeature(name: string): boolean;
}

/** Returns undefined if the browser does not report the permissions policy. */
function isMicrophonePermitted(): boolean | undefined {
  const policies: object = document;
  const policy = ["permissionsPolicy", "featurePolicy"]
    .map((name): unknown => Reflect.get(policies, name))
    .find(isFeaturePolicy);
  return policy?.allowsFeature("microphone");
}

function isFeaturePolicy(value: unknown): value is FeaturePolicy {
  return (
    typeof value === "object" &&
    value !== null &&
    "allowsFeature" in value &&
    typeof value.allowsFeature === "function"
  );
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

function stopTracks(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

function context(node: AudioNode): AudioContext {
  if (node.context instanceof AudioContext) return node.context;
  throw new TypeError("a microphone needs a running audio context");
}
