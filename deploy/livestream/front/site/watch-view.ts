import { elementOf, make, say } from "./element.js";
import { AUTOMATIC, HlsPlayer, type PictureQuality, type PlayerState } from "./hls-player.js";
import type { LiveStream } from "./live-stream.js";
import type { PageClock } from "./page-clock.js";
import { bestQuality, clockText, hueOf, isSoundAlone, titleOf, viewersText } from "./wording.js";

/** A list of qualities; hidden if there is nothing to choose. */
export class QualityMenu {
  readonly #select: HTMLSelectElement;
  #chosenLabel: string | undefined;
  #automatic: HTMLOptionElement | undefined;

  constructor(select: HTMLSelectElement, onChosen: (index: number) => void) {
    this.#select = select;
    select.addEventListener("change", () => {
      const index = Number(select.value);
      this.#chosenLabel =
        index === AUTOMATIC ? undefined : select.selectedOptions[0]?.textContent || undefined;
      onChosen(index);
    });
  }

  /** Returns the index of the quality with the label that the viewer chose before, or of the automatic choice. */
  offer(qualities: readonly PictureQuality[]): number {
    const options = qualities.map(({ index, label }) =>
      make("option", { text: label, attributes: { value: String(index) } }),
    );
    this.#automatic = options[0];
    this.#select.replaceChildren(...options);
    this.#select.hidden = qualities.length < 3;
    const kept = qualities.find(({ label }) => label === this.#chosenLabel)?.index ?? AUTOMATIC;
    this.#select.value = String(kept);
    return kept;
  }

  showPlayed(label: string | undefined): void {
    if (this.#automatic === undefined) return;
    this.#automatic.textContent = label === undefined ? "Auto" : `Auto (${label})`;
  }
}

/** If playback is further behind the broadcast than this, the button to jump to live is highlighted. */
const BEHIND_SEC_MAX = 6;
const LOOK_PERIOD_MS = 1_000;

export interface PlayerSwitches {
  readonly jumpToLive: () => void;
  readonly behindLiveSec: () => number;
  /** False only if the stream is known to have no audio. */
  readonly hasSound: () => boolean;
}

/** The buttons of the stage, and their keyboard shortcuts. */
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

  /** After a pause, playback continues at the live position, not where it was paused. */
  #goLive(): void {
    this.#switches.jumpToLive();
    this.#video.play().catch(() => undefined);
  }

  #toggleMute(): void {
    this.#video.muted = !this.#video.muted;
    if (!this.#video.muted && this.#video.volume === 0) this.#video.volume = 1;
  }

  #toggleFullScreen(): void {
    // An iPhone shows only the video in full screen, with its own controls. It refuses a video that has not loaded.
    if (!document.fullscreenEnabled) {
      const video: HTMLVideoElement = this.#video;
      const isLoaded = video.readyState >= HTMLMediaElement.HAVE_METADATA;
      if (isLoaded && canFillPhone(video)) video.webkitEnterFullscreen();
      return;
    }
    const done = isFullScreen() ? document.exitFullscreen() : this.#stage.requestFullscreen();
    done.catch(() => undefined);
  }

  /** Letters work everywhere on the stage; the space bar only where it would not press a focused button. */
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

/** Safari on iPhones before iOS 26 allows full screen only for videos. */
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

const CLOCK_PERIOD_MS = 1_000;

const MESSAGES: Readonly<Record<PlayerState, string>> = {
  waiting: "",
  loading: "Loading…",
  playing: "",
  reconnecting: "The video was lost. Reconnecting…",
  refused: "This link is invalid or has expired. Ask for a new one where you got it.",
  unsupported: "This browser cannot play live streams.",
};

const PRIVATE = "This stream is private. Open it with the link that you were given.";

/** The stage: plays the chosen stream while it is live, and waits for it while it is not. */
export class WatchView {
  readonly #section = elementOf("watch", HTMLElement);
  readonly #stage = elementOf("stage", HTMLElement);
  readonly #title = elementOf("watch-title", HTMLElement);
  readonly #badge = elementOf("watch-badge", HTMLElement);
  readonly #facts = elementOf("watch-facts", HTMLElement);
  readonly #elapsed = elementOf("watch-clock", HTMLElement);
  readonly #message = elementOf("stage-message", HTMLElement);
  readonly #clock: PageClock;
  readonly #player: HlsPlayer;
  #key: string | undefined;
  #token: string | undefined;
  #stream: LiveStream | undefined;
  #wasLive = false;

  constructor(clock: PageClock) {
    this.#clock = clock;
    const menu = new QualityMenu(elementOf("quality", HTMLSelectElement), (index) =>
      this.#player.choose(index),
    );
    this.#player = new HlsPlayer(
      elementOf("video", HTMLVideoElement),
      {
        onState: (state) => this.#show(state),
        onQualities: (qualities) => this.#player.choose(menu.offer(qualities)),
        onPlayedQuality: (label) => menu.showPlayed(label),
      },
      clock,
    );
    const controls = {
      jumpToLive: () => this.#player.jumpToLive(),
      behindLiveSec: () => this.#player.behindLiveSec(),
      hasSound: () => this.#player.hasSound(),
    };
    new PlayerControls(controls).start(clock);
    clock.every(CLOCK_PERIOD_MS, () => this.#showClock());
  }

  get key(): string | undefined {
    return this.#key;
  }

  /** An undefined key closes the stage. */
  watch(key: string | undefined, token: string | undefined): void {
    if (key === this.#key && token === this.#token) return;
    this.#key = key;
    this.#token = token;
    this.#stream = undefined;
    this.#wasLive = false;
    this.#player.stop();
    this.#section.hidden = key === undefined;
    document.title = key === undefined ? "Parley Live" : `${titleOf(key)} – Parley Live`;
    if (key === undefined) return;
    say(this.#title, titleOf(key));
    say(this.#facts, "");
    this.#badge.hidden = true;
    // Shown until the list is known.
    say(this.#message, "Looking for this stream…");
    this.#title.focus({ preventScroll: true });
    this.#section.scrollIntoView({ block: "start" });
  }

  /** Starts, stops or restarts playback as the chosen stream appears, disappears or changes. */
  update(streams: readonly LiveStream[]): void {
    if (this.#key === undefined) return;
    const stream = streams.find(({ streamKey }) => streamKey === this.#key);
    const before = this.#stream;
    this.#stream = stream;
    if (stream === undefined) {
      if (before !== undefined) this.#player.stop();
      this.#showAbsence();
      return;
    }
    this.#wasLive = true;
    this.#badge.hidden = false;
    this.#showClock();
    this.#showFacts();
    this.#stage.dataset["kind"] = isSoundAlone(stream) ? "sound" : "picture";
    this.#stage.style.setProperty("--hue", String(hueOf(stream.streamKey)));
    if (!isAnother(before, stream)) return;
    if (stream.isPrivate && this.#token === undefined) say(this.#message, PRIVATE);
    else this.#player.play(playlistPathOf(stream, this.#token));
  }

  #show(state: PlayerState): void {
    this.#stage.dataset["state"] = state;
    if (state !== "waiting") say(this.#message, MESSAGES[state]);
  }

  #showAbsence(): void {
    this.#badge.hidden = true;
    this.#elapsed.hidden = true;
    say(this.#facts, "");
    say(
      this.#message,
      this.#wasLive
        ? "This stream has ended. If it comes back, it plays here."
        : "This stream is not live. When it starts, it plays here.",
    );
  }

  /** Shows how long the broadcast has been live. */
  #showClock(): void {
    const stream = this.#stream;
    this.#elapsed.hidden = stream === undefined;
    if (stream !== undefined)
      say(this.#elapsed, clockText(this.#clock.epochMs() - stream.startedMs));
  }

  #showFacts(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    const best = bestQuality(stream);
    const facts = [best ?? "", viewersText(stream)].filter((fact) => fact !== "");
    say(this.#facts, facts.join(" · "));
  }
}

/** The token is part of the path, so requests for the playlist's files carry it, too. */
function playlistPathOf({ playlistPath }: LiveStream, token: string | undefined): string {
  return token === undefined ? playlistPath : playlistPath.replace("/hls/", `/hls/~${token}/`);
}

/**
 * Whether this is another broadcast, or one whose renditions have changed. A player reads the master playlist once: it
 * would wait for a playlist that is gone and never find a new one.
 */
function isAnother(before: LiveStream | undefined, stream: LiveStream): boolean {
  if (before?.startedMs !== stream.startedMs || before.playlistPath !== stream.playlistPath)
    return true;
  // A stream is listed shortly before its qualities are known.
  return before.qualities.length > 0 && pictureNamesOf(before) !== pictureNamesOf(stream);
}

function pictureNamesOf({ qualities }: LiveStream): string {
  const pictures = qualities.filter(({ height }) => height > 0);
  return pictures.map(({ name }) => name).join(" ");
}
