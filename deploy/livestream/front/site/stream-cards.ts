import { make, say } from "./element.js";
import type { LiveStream } from "./live-stream.js";
import type { PageClock } from "./page-clock.js";
import {
  bestQuality,
  countText,
  hueOf,
  initialsOf,
  isSoundAlone,
  liveForText,
  titleOf,
  viewersText,
} from "./wording.js";

/** The bars drawn in place of initials for audio-only streams; the style sheet sets their heights. */
const SOUND_BARS = [1, 2, 3, 4, 5, 6, 7];

/** Shows the stream's own picture, if it has one, over a drawn one. */
export function poster(stream: LiveStream): HTMLElement {
  const isSound = isSoundAlone(stream);
  const drawn = make(
    "span",
    { classes: isSound ? "poster sound" : "poster", attributes: { "aria-hidden": "true" } },
    [
      isSound
        ? make(
            "span",
            { classes: "bars" },
            SOUND_BARS.map(() => make("i")),
          )
        : make("span", { classes: "initials", text: initialsOf(stream.streamKey) }),
    ],
  );
  drawn.style.setProperty("--hue", String(hueOf(stream.streamKey)));
  if (stream.thumbnailPath !== undefined) {
    const picture = make("img", {
      attributes: { src: stream.thumbnailPath, alt: "", loading: "lazy", decoding: "async" },
    });
    // The drawn picture is beneath it, until another picture loads.
    picture.addEventListener("error", () => {
      picture.hidden = true;
    });
    picture.addEventListener("load", () => {
      picture.hidden = false;
    });
    drawn.append(picture);
  }
  return drawn;
}

/** Reloads the picture within `element`, if there is one. */
export function renewPoster(element: HTMLElement, nowMs: number): void {
  const picture = element.querySelector(".poster img");
  if (!(picture instanceof HTMLImageElement)) return;
  const address = new URL(picture.src);
  address.searchParams.set("at", String(nowMs));
  picture.src = address.href;
}

/** Further streams are only counted, because a list of thousands is of no use to a viewer. */
const CARDS_MAX = 200;
const SINCE_PERIOD_MS = 15_000;
/** The ladder makes a new picture this often. */
const PICTURE_PERIOD_MS = 10_000;

export interface CardPlaces {
  readonly list: HTMLElement;
  readonly count: HTMLElement;
  readonly more: HTMLElement;
}

interface Card {
  readonly item: HTMLElement;
  readonly since: HTMLElement;
  readonly viewers: HTMLElement;
  /** Everything that the card shows except the viewers, as one text: a stream with other content needs a new card. */
  readonly content: string;
  readonly startedMs: number;
}

/** One link for each live stream. A card that has not changed keeps its element, and with it the focus. */
export class StreamCards {
  readonly #places: CardPlaces;
  readonly #clock: PageClock;
  readonly #cards = new Map<string, Card>();

  constructor(places: CardPlaces, clock: PageClock) {
    this.#places = places;
    this.#clock = clock;
    clock.every(SINCE_PERIOD_MS, () => this.#showTime());
    clock.every(PICTURE_PERIOD_MS, () => this.#renewPictures());
  }

  show(streams: readonly LiveStream[], watchedKey: string | undefined): void {
    const shown = streams.slice(0, CARDS_MAX);
    const keys = new Set(shown.map(({ streamKey }) => streamKey));
    for (const [key, card] of this.#cards) {
      if (keys.has(key)) continue;
      card.item.remove();
      this.#cards.delete(key);
    }
    shown.forEach((stream, place) => {
      const card = this.#cardOf(stream);
      say(card.viewers, viewersText(stream));
      if (this.#places.list.children[place] !== card.item) {
        this.#places.list.insertBefore(card.item, this.#places.list.children[place] ?? null);
      }
      mark(card.item, stream.streamKey === watchedKey);
    });
    say(this.#places.count, countText(streams.length));
    this.#places.more.hidden = streams.length <= CARDS_MAX;
    say(this.#places.more, `and ${streams.length - CARDS_MAX} more`);
    this.#showTime();
  }

  #cardOf(stream: LiveStream): Card {
    const content = JSON.stringify({ ...stream, viewers: undefined });
    const known = this.#cards.get(stream.streamKey);
    if (known?.content === content) return known;
    const since = make("span", { classes: "since" });
    const viewers = make("span", { classes: "viewers" });
    const item = itemOf(stream, since, viewers);
    const card: Card = { item, since, viewers, content, startedMs: stream.startedMs };
    if (known !== undefined) replace(known.item, card.item);
    this.#cards.set(stream.streamKey, card);
    return card;
  }

  /** Only visible pictures are loaded: those of two hundred cards would be some megabytes. */
  #renewPictures(): void {
    if (document.hidden) return;
    const nowMs = this.#clock.epochMs();
    for (const { item } of this.#cards.values()) if (isOnScreen(item)) renewPoster(item, nowMs);
  }

  #showTime(): void {
    const nowMs = this.#clock.epochMs();
    for (const { since, startedMs } of this.#cards.values())
      say(since, liveForText(startedMs, nowMs));
  }
}

function itemOf(stream: LiveStream, since: HTMLElement, viewers: HTMLElement): HTMLElement {
  const picture = poster(stream);
  picture.append(make("span", { classes: "badge", text: "Live" }));
  const best = bestQuality(stream);
  const chip = stream.isPrivate ? "Private" : best;
  if (chip !== undefined) picture.append(make("span", { classes: "chip", text: chip }));
  const link = make("a", { classes: "card", attributes: { href: `#/${stream.streamKey}` } }, [
    picture,
    make("span", { classes: "card-words" }, [
      make("span", { classes: "card-title", text: titleOf(stream.streamKey) }),
      make("span", { classes: "card-line" }, [
        make("span", { classes: "watching", text: "Watching" }),
        since,
        viewers,
      ]),
    ]),
  ]);
  return make("li", { attributes: { "data-stream": stream.streamKey } }, [link]);
}

function isOnScreen(item: HTMLElement): boolean {
  const { top, bottom } = item.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

function mark(item: HTMLElement, isWatched: boolean): void {
  const link = item.firstElementChild;
  if (isWatched) link?.setAttribute("aria-current", "true");
  else link?.removeAttribute("aria-current");
}

function replace(old: HTMLElement, fresh: HTMLElement): void {
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(fresh);
  const link = fresh.firstElementChild;
  if (hadFocus && link instanceof HTMLElement) link.focus();
}
