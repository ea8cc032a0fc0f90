import { make } from "./element.js";
import type { LiveStream } from "./live-stream.js";
import { hueOf, initialsOf, isSoundAlone } from "./wording.js";

/** Drawn in place of initials where there is sound alone; their heights are the style sheet's. */
const SOUND_BARS = [1, 2, 3, 4, 5, 6, 7];

/** The stream's own picture where there is one, over a drawn one. */
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
    // The drawn one is beneath it, until there is another picture.
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

/** Loads the picture within `element` anew, where there is one. */
export function renewPoster(element: HTMLElement, nowMs: number): void {
  const picture = element.querySelector(".poster img");
  if (!(picture instanceof HTMLImageElement)) return;
  const address = new URL(picture.src);
  address.searchParams.set("at", String(nowMs));
  picture.src = address.href;
}
