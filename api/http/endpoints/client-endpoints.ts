import { ifBuilt, SCRIPT_TYPE, StaticFile } from "../answer/static-file.js";
import type { Endpoint } from "./endpoint.js";

/** The output folder of `build-client.sh` for the browser's files. */
const BUILT_CLIENT = new URL("../../../client/", import.meta.url);

/** The browser client and its files; empty if the server was built without them, which does not affect calls. */
export function clientEndpoints(folder = BUILT_CLIENT): readonly Endpoint[] {
  return (
    ifBuilt(() => {
      const worklet = new StaticFile(folder, "audio-worklet.js", SCRIPT_TYPE);
      const client = new StaticFile(folder, "parley-client.js", SCRIPT_TYPE);
      const widget = new StaticFile(folder, "widget.js", SCRIPT_TYPE);
      return [
        // The path that the build has inserted into client and widget.
        worklet.immutableCrossOrigin(`/client/${worklet.version}/audio-worklet.js`),
        worklet.revalidated("/client/audio-worklet.js"),
        client.revalidated("/client/parley-client.js"),
        widget.revalidated("/widget.js"),
      ];
    }) ?? []
  );
}
