import type { Endpoint, VendorContext } from "../vendor-settings.js";

/** A connection that is not there by then is of no use to the request it was meant for. */
const WARM_TIMEOUT_MS = 5_000;

/** A front page is read to its end so that its connection can be used again; a larger one is not worth it. */
const FRONT_PAGE_MAX_BYTES = 64 * 1024;

/** Leaves an idle connection in the pool by asking for a page that costs nothing. Failures are left to the real request. */
export function warmConnection(
  { clock, connections }: VendorContext,
  endpoint: Endpoint,
  clientOwned: boolean,
  orgId?: string,
): void {
  if (connections.hasIdle(endpoint.origin, clientOwned, orgId)) return;
  let abort = (): void => undefined;
  let receivedBytes = 0;
  const cancelTimer = clock.after(WARM_TIMEOUT_MS, () => abort());
  try {
    connections.for(clientOwned, orgId).dispatch(
      { origin: endpoint.origin, path: endpoint.path === "" ? "/" : endpoint.path, method: "GET" },
      {
        onRequestStart: (controller) => {
          abort = () => controller.abort(new Error("not needed any more"));
        },
        onResponseStart: () => undefined,
        onResponseData: (_controller, chunk) => {
          receivedBytes += chunk.length;
          if (receivedBytes > FRONT_PAGE_MAX_BYTES) abort();
        },
        onResponseEnd: cancelTimer,
        onResponseError: cancelTimer,
      },
    );
  } catch {
    // A closed pool or a malformed address: the request itself will say so, with an error somebody reads.
    cancelTimer();
  }
}
