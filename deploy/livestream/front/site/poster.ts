import { make } from "./element.js";
import type { LiveStream } from "./live-stream.js";
import { hueOf, initialsOf } from "./wording.js";

/** The stream's own picture where there is one, over a drawn one. */
export function poster(stream: LiveStream): HTMLElement {
  const drawn = make("span", { classes: "poster", attributes: { "aria-hidden": "true" } }, [
    make("span", { classes: "initials", text: initialsOf(stream.streamKey) }),
  ]);
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
