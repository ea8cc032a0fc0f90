import { elementOf, say } from "./element.js";
import { type FeedState, LiveFeed } from "./live-feed.js";
import type { LiveStream } from "./live-stream.js";
import { browserClock } from "./page-clock.js";
import { StreamCards } from "./stream-cards.js";
import { WatchView } from "./watch-view.js";
import { titleOf } from "./wording.js";

const FEED_MESSAGES: Readonly<Record<FeedState, string>> = {
  connecting: "Connecting…",
  live: "Live updates",
  polling: "Updated every 3 s",
  down: "Not reachable",
};

/** The address of a private stream has a token after the key. */
const KEY_IN_ADDRESS = /^#\/([A-Za-z0-9_-]{1,64})(?:\/(\d{10}-[A-Za-z0-9_-]{43}))?$/;

const feedState = elementOf("feed-state", HTMLElement);
const notice = elementOf("notice", HTMLElement);
const news = elementOf("news", HTMLElement);
const empty = elementOf("empty", HTMLElement);
const looking = elementOf("looking", HTMLElement);

const watch = new WatchView(browserClock);
const cards = new StreamCards(
  {
    list: elementOf("streams", HTMLElement),
    count: elementOf("count", HTMLElement),
    more: elementOf("more", HTMLElement),
  },
  browserClock,
);

let streams: readonly LiveStream[] | undefined;

function show(): void {
  if (streams === undefined) return;
  watch.update(streams);
  cards.show(streams, watch.key);
  looking.hidden = true;
  empty.hidden = streams.length > 0;
}

/** Announces changes of the list to viewers with a screen reader. */
function announceChanges(before: readonly LiveStream[], after: readonly LiveStream[]): void {
  const keysOf = (list: readonly LiveStream[]) => list.map(({ streamKey }) => streamKey);
  const [old, fresh] = [new Set(keysOf(before)), new Set(keysOf(after))];
  const added = keysOf(after).filter((key) => !old.has(key));
  const went = keysOf(before).filter((key) => !fresh.has(key));
  const words = [
    ...added.map((key) => `${titleOf(key)} is live.`),
    ...went.map((key) => `${titleOf(key)} has ended.`),
  ];
  if (words.length > 0) say(news, words.slice(0, 3).join(" "));
}

const feed = new LiveFeed(
  {
    onStreams(list) {
      if (streams !== undefined) announceChanges(streams, list);
      streams = list;
      show();
    },
    onState(state) {
      feedState.dataset["state"] = state;
      say(feedState, FEED_MESSAGES[state]);
      notice.hidden = state !== "down";
      if (state === "down" && streams === undefined) looking.hidden = true;
    },
  },
  browserClock,
);

function follow(): void {
  const [, key, token] = KEY_IN_ADDRESS.exec(location.hash) ?? [];
  watch.watch(key, token);
  show();
}

addEventListener("hashchange", follow);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) feed.refresh();
});
addEventListener("online", () => feed.refresh());
elementOf("close", HTMLAnchorElement).addEventListener("click", () => {
  const card = document.querySelector(`[data-stream="${watch.key ?? ""}"] a`);
  // Called after the address has changed, which closes the stage.
  addEventListener("hashchange", () => card instanceof HTMLElement && card.focus(), { once: true });
});
feed.start();
follow();
