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
    picture.addEventListener("error", () => picture.remove());
    drawn.append(picture);
  }
  return drawn;
}
