import type { InfiniteData } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { chance } from "../../client/client-clock.js";
import { after } from "./browser-clock.js";
import { type CallEvent, watchCalls } from "./call-watch.js";
import type { Answered } from "./contract-paths.js";
import { queryClient } from "./queries.js";

type CallList = Answered<"listCalls">;

/** However many calls begin and end, lists are asked for no more often than that; not by all pages at once. */
const RENEW_EVERY_MS = { min: 1_000, max: 3_000 };

/**
 * Keeps a page's lists of calls up to date as calls start, continue and end. Returns whether the server sends events.
 */
export function useLiveCalls(): boolean {
  const [isTold, setTold] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    let cancelRenewal: (() => void) | undefined;
    const renewSoon = () => {
      const { min, max } = RENEW_EVERY_MS;
      cancelRenewal ??= after(min + chance() * (max - min), () => {
        cancelRenewal = undefined;
        renew();
      });
    };
    watchCalls(
      "/api/dashboard/calls/events",
      (event) => {
        if (event?.name !== "pulse") setTold(event !== undefined);
        if (event?.name === "watching") renew();
        if (event?.name === "began" || event?.name === "ended") renewSoon();
        if (event?.name === "turn") showTurn(event);
      },
      abort.signal,
    );
    return () => {
      cancelRenewal?.();
      abort.abort();
    };
  }, []);
  return isTold;
}

function renew(): void {
  for (const queryKey of [["latestCalls"], ["stats"]]) {
    void queryClient.invalidateQueries({ queryKey });
  }
}

/** In the rows that show the call, without asking for them anew. */
function showTurn({ data }: Extract<CallEvent, { name: "turn" }>): void {
  const withTurn = (list: CallList): CallList => {
    if (!list.items.some(({ _id }) => _id === data.callId)) return list;
    const items = list.items.map((call) =>
      call._id === data.callId ? { ...call, metrics: data.metrics } : call,
    );
    return { ...list, items };
  };
  queryClient.setQueriesData<CallList>(
    { queryKey: ["latestCalls"] },
    (list) => list && withTurn(list),
  );
  queryClient.setQueriesData<InfiniteData<CallList>>(
    { queryKey: ["calls"] },
    (list) => list && { ...list, pages: list.pages.map(withTurn) },
  );
}
