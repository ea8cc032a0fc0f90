import { elementOf } from "./element.js";
import type { PageClock } from "./page-clock.js";

/** Behind the broadcast by more than this, the way back is offered. */
const BEHIND_SEC_MAX = 6;
const LOOK_PERIOD_MS = 1_000;

export interface PlayerSwitches {
  readonly jumpToLive: () => void;
  readonly behindLiveSec: () => number;
  /** False only where it is known that there is none. */
  readonly hasSound: () => boolean;
}

/** The buttons of the stage, and their keys. */
export class PlayerControls {
  readonly #stage = elementOf("stage", HTMLElement);
  readonly #video = elementOf("video", HTMLVideoElement);
  readonly #pause = elementOf("pause", HTMLButtonElement);
  readonly #mute = elementOf("mute", HTMLButtonElement);
  readonly #unmute = elementOf("unmute", HTMLButtonElement);
  readonly #volume = elementOf("volume", HTMLInputElement);
  readonly #toLive = elementOf("to-live", HTMLButtonElement);
  readonly #fullScreen = elementOf("full-screen", HTMLButtonElement);
  readonly #switches: PlayerSwitches;

  constructor(switches: PlayerSwitches) {
    this.#switches = switches;
  }

  start(clock: PageClock): void {
    this.#pause.addEventListener("click", () => this.#togglePause());
    this.#mute.addEventListener("click", () => this.#toggleMute());
    this.#unmute.addEventListener("click", () => {
      this.#toggleMute();
      this.#mute.focus();
    });
    this.#volume.addEventListener("input", () => {
      this.#video.volume = Number(this.#volume.value);
      this.#video.muted = this.#video.volume === 0;
    });
    this.#toLive.addEventListener("click", () => this.#goLive());
    this.#fullScreen.hidden = !document.fullscreenEnabled && !canFillPhone(this.#video);
    this.#fullScreen.addEventListener("click", () => this.#toggleFullScreen());
    this.#stage.addEventListener("keydown", (event) => this.#pressed(event));
    this.#video.addEventListener("click", () => this.#togglePause());
    for (const name of ["play", "pause", "volumechange"]) {
      this.#video.addEventListener(name, () => this.#show());
    }
    document.addEventListener("fullscreenchange", () => this.#show());
    clock.every(LOOK_PERIOD_MS, () => this.#show());
    this.#show();
  }

  #show(): void {
    const { paused, muted, volume } = this.#video;
    label(this.#pause, paused ? "Play" : "Pause");
    const hasSound = this.#switches.hasSound();
    this.#unmute.hidden = !muted || paused || !hasSound;
    this.#mute.disabled = !hasSound;
    label(this.#mute, hasSound ? (muted ? "Unmute" : "Mute") : "This stream has no sound");
    this.#volume.disabled = !hasSound;
    this.#volume.value = String(muted ? 0 : volume);
    const isBehind = paused || this.#switches.behindLiveSec() > BEHIND_SEC_MAX;
    this.#toLive.dataset["behind"] = String(isBehind);
    label(this.#toLive, isBehind ? "Jump to live" : "Playing live");
    label(this.#fullScreen, isFullScreen() ? "Leave full screen" : "Full screen");
    this.#stage.dataset["paused"] = String(paused);
    this.#stage.dataset["muted"] = String(muted);
  }

  #togglePause(): void {
    if (this.#video.paused) this.#goLive();
    else this.#video.pause();
  }

  /** A live stream goes on where it is, not where it was left. */
  #goLive(): void {
    this.#switches.jumpToLive();
    this.#video.play().catch(() => undefined);
  }

  #toggleMute(): void {
    this.#video.muted = !this.#video.muted;
    if (!this.#video.muted && this.#video.volume === 0) this.#video.volume = 1;
  }

  #toggleFullScreen(): void {
    // An iPhone fills its screen with the video alone and its own controls. It refuses a video that has not loaded.
    if (!document.fullscreenEnabled) {
      const video: HTMLVideoElement = this.#video;
      const isLoaded = video.readyState >= HTMLMediaElement.HAVE_METADATA;
      if (isLoaded && canFillPhone(video)) video.webkitEnterFullscreen();
      return;
    }
    const done = isFullScreen() ? document.exitFullscreen() : this.#stage.requestFullscreen();
    done.catch(() => undefined);
  }

  /** Letters work everywhere on the stage; the space bar only where it would press nothing. */
  #pressed(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target instanceof HTMLSelectElement) return;
    const isOnButton = event.target instanceof HTMLButtonElement;
    if (event.key === "k" || (event.key === " " && !isOnButton)) this.#togglePause();
    else if (event.key === "m") this.#toggleMute();
    else if (event.key === "f") this.#toggleFullScreen();
    else if (event.key === "l") this.#goLive();
    else return;
    event.preventDefault();
  }
}

/** Safari on iPhones before iOS 26: no element but a video can fill the screen. */
interface VideoOfPhone {
  webkitEnterFullscreen(): void;
}

function canFillPhone(video: object): video is VideoOfPhone {
  return "webkitEnterFullscreen" in video && typeof video.webkitEnterFullscreen === "function";
}

function isFullScreen(): boolean {
  return document.fullscreenElement !== null;
}

function label(button: HTMLButtonElement, text: string): void {
  if (button.getAttribute("aria-label") === text) return;
  button.setAttribute("aria-label", text);
  button.title = text;
}
