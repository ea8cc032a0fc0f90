import { elementOf, make, say } from "./element.js";
import { browserClock } from "./page-clock.js";
import { type PublisherState, type PublishFault, WhipPublisher } from "./whip-publisher.js";
import { clockText, titleOf } from "./wording.js";

const STATES: Readonly<Record<PublisherState, string>> = {
  connecting: "Connecting…",
  live: "You are live.",
  reconnecting: "The connection was lost. Reconnecting…",
};

const FAULTS: Readonly<Record<PublishFault, string>> = {
  refused: "The server refused this broadcast: check the name and the key, or choose another name.",
  noWebRtc:
    "This server accepts no broadcasts from browsers now. Try again in a minute, or broadcast by RTMP, for example with OBS.",
  unreachable: "The server cannot be reached. Check your connection, then go live again.",
  lost: "The connection was lost and did not come back. Go live again.",
};

const CLOCK_PERIOD_MS = 1_000;
const PICTURE = { width: { ideal: 1_280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };

const form = elementOf("broadcast", HTMLFormElement);
const preview = elementOf("preview", HTMLVideoElement);
const message = elementOf("message", HTMLElement);
const name = elementOf("name", HTMLInputElement);
const key = elementOf("key", HTMLInputElement);
const camera = elementOf("camera", HTMLSelectElement);
const microphone = elementOf("microphone", HTMLSelectElement);
const button = elementOf("go", HTMLButtonElement);
const badge = elementOf("live", HTMLElement);
const clock = elementOf("clock", HTMLElement);
const watchLink = elementOf("watch-link", HTMLAnchorElement);

let media: MediaStream | undefined;
let publisher: WhipPublisher | undefined;
let liveSinceMs: number | undefined;
/** True while the browser asks for permission: a second click must not start a second broadcast. */
let isStarting = false;

/** Opens the chosen camera and microphone. A machine without a camera sends only audio. */
async function openMedia(): Promise<MediaStream | undefined> {
  // Browsers omit it on pages that are not secure.
  const devices: MediaDevices | undefined = navigator.mediaDevices;
  if (devices === undefined) {
    say(message, "Browsers open the camera only for pages over HTTPS, or on localhost.");
    return undefined;
  }
  const audio = microphone.value === "" ? true : { deviceId: { exact: microphone.value } };
  const chosen = camera.value === "" ? {} : { deviceId: { exact: camera.value } };
  try {
    return await devices.getUserMedia({ audio, video: { ...PICTURE, ...chosen } });
  } catch (error) {
    const fault = error instanceof DOMException ? error.name : "";
    if (fault === "NotFoundError") {
      const sound = await devices.getUserMedia({ audio }).catch(() => undefined);
      say(message, sound ? "No camera was found: only sound is sent." : "No microphone was found.");
      return sound;
    }
    say(
      message,
      fault === "NotAllowedError"
        ? "Allow this page to use the camera and the microphone, then try again."
        : "The camera or the microphone could not be opened. Does another program use it?",
    );
    return undefined;
  }
}

/** Shows a preview and the choice of devices. Device names are known only after permission was given. */
async function showPreview(): Promise<void> {
  const opened = await openMedia();
  if (opened === undefined) return;
  for (const track of media?.getTracks() ?? []) track.stop();
  media = opened;
  preview.srcObject = opened;
  const devices = await navigator.mediaDevices.enumerateDevices();
  offer(camera, devices, "videoinput", opened.getVideoTracks()[0]);
  offer(microphone, devices, "audioinput", opened.getAudioTracks()[0]);
  for (const track of opened.getTracks()) void publisher?.replaceTrack(track);
}

function offer(
  select: HTMLSelectElement,
  devices: readonly MediaDeviceInfo[],
  kind: MediaDeviceKind,
  used: MediaStreamTrack | undefined,
): void {
  const options = devices
    .filter((device) => device.kind === kind)
    .map(({ deviceId, label }) => make("option", { text: label, attributes: { value: deviceId } }));
  select.replaceChildren(...options);
  select.value = used?.getSettings().deviceId ?? "";
  select.disabled = options.length < 2;
}

function publishUrl(): string {
  const url = new URL(`/whip/${name.value}`, location.href);
  if (key.value !== "") url.searchParams.set("secret", key.value);
  return url.href;
}

async function goLive(): Promise<void> {
  isStarting = true;
  show();
  if (media === undefined) await showPreview();
  isStarting = false;
  show();
  if (media === undefined) return;
  publisher = new WhipPublisher(
    publishUrl(),
    media,
    {
      onState(state) {
        if (state === "live") liveSinceMs ??= browserClock.epochMs();
        say(message, STATES[state]);
        show();
      },
      onFault(fault) {
        ended();
        say(message, FAULTS[fault]);
      },
    },
    browserClock,
  );
  publisher.start();
  show();
}

function ended(): void {
  publisher = undefined;
  liveSinceMs = undefined;
  show();
}

function show(): void {
  const isLive = liveSinceMs !== undefined;
  badge.hidden = !isLive;
  watchLink.hidden = !isLive;
  watchLink.href = `/#/${name.value}`;
  for (const field of [name, key]) field.disabled = publisher !== undefined;
  button.disabled = isStarting;
  say(button, publisher === undefined ? "Go live" : "Stop");
  document.title = isLive ? `Live: ${titleOf(name.value)} – Parley Live` : "Go live – Parley Live";
  showClock();
}

function showClock(): void {
  const passedMs = liveSinceMs === undefined ? 0 : browserClock.epochMs() - liveSinceMs;
  clock.hidden = liveSinceMs === undefined;
  say(clock, clockText(passedMs));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (isStarting) return;
  if (publisher === undefined) void goLive();
  else {
    publisher.stop();
    ended();
    say(message, "The broadcast has ended.");
  }
});
for (const select of [camera, microphone]) {
  select.addEventListener("change", () => void showPreview());
}
addEventListener("pagehide", () => publisher?.stop());
browserClock.every(CLOCK_PERIOD_MS, showClock);
void showPreview();
