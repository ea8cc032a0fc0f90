import { elementOf, say } from "./element.js";
import { HlsPlayer, type PlayerState } from "./hls-player.js";
import type { LiveStream } from "./live-stream.js";
import type { PageClock } from "./page-clock.js";
import { PlayerControls } from "./player-controls.js";
import { QualityMenu } from "./quality-menu.js";
import { bestQuality, hueOf, isSoundAlone, liveForText, titleOf, viewersText } from "./wording.js";

const SINCE_PERIOD_MS = 15_000;

const MESSAGES: Readonly<Record<PlayerState, string>> = {
  waiting: "",
  loading: "Loading…",
  playing: "",
  reconnecting: "The picture got lost. Reconnecting…",
  refused: "This link has expired, or was never right. Ask for a new one where you got it.",
  unsupported: "This browser cannot play live streams.",
};

const PRIVATE = "This stream is private. It plays with the link that you were given.";

/** The stage: one chosen stream, played as long as it is live and awaited when it is not. */
export class WatchView {
  readonly #section = elementOf("watch", HTMLElement);
  readonly #stage = elementOf("stage", HTMLElement);
  readonly #title = elementOf("watch-title", HTMLElement);
  readonly #badge = elementOf("watch-badge", HTMLElement);
  readonly #facts = elementOf("watch-facts", HTMLElement);
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
        onState: (state) => this.#tell(state),
        onQualities: (qualities) => this.#player.choose(menu.offer(qualities)),
        onPlayedQuality: (label) => menu.tellPlayed(label),
      },
      clock,
    );
    const controls = {
      jumpToLive: () => this.#player.jumpToLive(),
      behindLiveSec: () => this.#player.behindLiveSec(),
      hasSound: () => this.#player.hasSound(),
    };
    new PlayerControls(controls).start(clock);
    clock.every(SINCE_PERIOD_MS, () => this.#tellFacts());
  }

  get key(): string | undefined {
    return this.#key;
  }

  /** Undefined closes the stage. */
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
    // Until the list is known.
    say(this.#message, "Looking for this stream…");
    this.#title.focus({ preventScroll: true });
    this.#section.scrollIntoView({ block: "start" });
  }

  /** Starts, stops or starts anew as the chosen stream comes, goes or comes again. */
  update(streams: readonly LiveStream[]): void {
    if (this.#key === undefined) return;
    const stream = streams.find(({ streamKey }) => streamKey === this.#key);
    const before = this.#stream;
    this.#stream = stream;
    if (stream === undefined) {
      if (before !== undefined) this.#player.stop();
      this.#tellAbsence();
      return;
    }
    this.#wasLive = true;
    this.#badge.hidden = false;
    this.#tellFacts();
    this.#stage.dataset["kind"] = isSoundAlone(stream) ? "sound" : "picture";
    this.#stage.style.setProperty("--hue", String(hueOf(stream.streamKey)));
    if (!isAnother(before, stream)) return;
    if (stream.isPrivate && this.#token === undefined) say(this.#message, PRIVATE);
    else this.#player.play(playlistPathOf(stream, this.#token));
  }

  #tell(state: PlayerState): void {
    this.#stage.dataset["state"] = state;
    if (state !== "waiting") say(this.#message, MESSAGES[state]);
  }

  #tellAbsence(): void {
    this.#badge.hidden = true;
    say(this.#facts, "");
    say(
      this.#message,
      this.#wasLive
        ? "This stream has ended. If it comes back, it plays here."
        : "This stream is not live. When it starts, it plays here.",
    );
  }

  #tellFacts(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    const best = bestQuality(stream);
    const since = liveForText(stream.startedMs, this.#clock.epochMs());
    const facts = [since, best ?? "", viewersText(stream)].filter((fact) => fact !== "");
    say(this.#facts, facts.join(" · "));
  }
}

/** A token stands in the path, so that what the playlist names is asked for with it, too. */
function playlistPathOf({ playlistPath }: LiveStream, token: string | undefined): string {
  return token === undefined ? playlistPath : playlistPath.replace("/hls/", `/hls/~${token}/`);
}

/**
 * Another broadcast, or one whose pictures have changed. A player reads the master playlist once: it would wait for a playlist
 * that is gone and never find a new one.
 */
function isAnother(before: LiveStream | undefined, stream: LiveStream): boolean {
  if (before?.startedMs !== stream.startedMs || before.playlistPath !== stream.playlistPath)
    return true;
  // A stream is listed shortly before its qualities are.
  return before.qualities.length > 0 && pictureNamesOf(before) !== pictureNamesOf(stream);
}

function pictureNamesOf({ qualities }: LiveStream): string {
  const pictures = qualities.filter(({ height }) => height > 0);
  return pictures.map(({ name }) => name).join(" ");
}
