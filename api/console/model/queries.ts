import { keepPreviousData, QueryClient, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ApiError, answered, api, fetchAsAnybody } from "./api.js";
import { nowMs } from "./browser-clock.js";
import type { CallFilters } from "./call-filters.js";
import type { Answered } from "./contract-paths.js";
import { onSession, sessionProved, shownPerson } from "./session.js";

/** Live pages ask again so often, and only while they are looked at. */
const LIVE_EVERY_MS = 3_000;
const SLOW_EVERY_MS = 15_000;
const AWAITED_EVERY_MS = 1_000;
/** As long after its end a call is asked for its summary. */
const SUMMARY_WAIT_MAX_MS = 60_000;
/** As long after its end a call is asked for its recording. */
const RECORDING_WAIT_MAX_MS = 15_000;
const FRESH_MS = 5_000;
const VOICES_FRESH_MS = 60_000;
const TRIES_MAX = 2;
const CALLS_PER_PAGE = 100;
const EXPORTED_CALLS_MAX = 1_000;
const MODELS_PER_PAGE = 100;
const MODEL_PAGES_MAX = 20;

export const queryClient = new QueryClient({
  defaultOptions: {
    // Whoever is offline is told so at once; the browser's own word for it is not always right.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: FRESH_MS,
      // What the server refuses stays refused; what did not reach it may the next time.
      retry: (count, error) => isPassing(error) && count < TRIES_MAX,
    },
  },
});

// What one person has loaded is not shown to the next.
let loadedFor = shownPerson();
onSession(() => {
  if (shownPerson() === loadedFor) return;
  loadedFor = shownPerson();
  queryClient.clear();
});

function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

export function useMe() {
  return useQuery({
    queryKey: ["me"],
    queryFn: async () => {
      const me = await answered(api.GET("/api/auth/me"));
      sessionProved();
      return me;
    },
  });
}

export function useOrganization() {
  return useQuery({
    queryKey: ["organization"],
    queryFn: () => answered(api.GET("/api/dashboard/organization")),
  });
}

export function usePlan() {
  return useQuery({
    queryKey: ["plan"],
    queryFn: () => answered(api.GET("/api/dashboard/plan")),
  });
}

export function useReady() {
  return useQuery({
    queryKey: ["ready"],
    // Any user, including one who is signed out.
    queryFn: () => answered(api.GET("/api/ready", { fetch: fetchAsAnybody })),
    refetchInterval: ({ state }) => (state.error === null ? SLOW_EVERY_MS : LIVE_EVERY_MS),
  });
}

/** `isTold`: of changes the page is told, as far as this server knows of them. */
export function useStats(isTold: boolean) {
  return useQuery({
    queryKey: ["stats"],
    queryFn: () => answered(api.GET("/api/dashboard/stats")),
    refetchInterval: isTold ? SLOW_EVERY_MS : LIVE_EVERY_MS,
  });
}

export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: () => answered(api.GET("/api/dashboard/agents")),
  });
}

export function useAgent(id: string) {
  const path = { id };
  return useQuery({
    queryKey: ["agents", id],
    queryFn: () => answered(api.GET("/api/dashboard/agents/{id}", { params: { path } })),
  });
}

/** The tools of the MCP servers that the agent had when it was saved at `updatedAt`. */
export function useMcpTools(id: string, updatedAt: string | undefined, isTold: boolean) {
  const path = { id };
  return useQuery({
    queryKey: ["agents", id, "mcpTools", updatedAt],
    queryFn: () => answered(api.GET("/api/dashboard/agents/{id}/mcp-tools", { params: { path } })),
    enabled: isTold,
  });
}

/** Page by page, newest first. */
export function useCalls(filters: CallFilters) {
  return useInfiniteQuery({
    queryKey: ["calls", filters],
    initialPageParam: 0,
    queryFn: ({ pageParam: skip }) => {
      const query = { ...filters, skip, limit: CALLS_PER_PAGE };
      return answered(api.GET("/api/dashboard/calls", { params: { query } }));
    },
    getNextPageParam: ({ skip, items, total }) => {
      const next = skip + items.length;
      return items.length === 0 || next >= total ? undefined : next;
    },
  });
}

/** The newest calls that match, page by page, as many as a table of a spreadsheet should have. */
export async function callsToExport(filters: CallFilters) {
  const calls: Answered<"listCalls">["items"] = [];
  while (calls.length < EXPORTED_CALLS_MAX) {
    const query = { ...filters, skip: calls.length, limit: CALLS_PER_PAGE };
    const page = await answered(api.GET("/api/dashboard/calls", { params: { query } }));
    calls.push(...page.items);
    if (page.items.length === 0 || calls.length >= page.total) break;
  }
  return calls;
}

/** A few calls that are looked at as they change; `isTold` as in `useStats`. */
export function useLatestCalls(filters: CallFilters, limit: number, isTold: boolean) {
  const query = { ...filters, limit };
  return useQuery({
    queryKey: ["latestCalls", query],
    queryFn: () => answered(api.GET("/api/dashboard/calls", { params: { query } })),
    refetchInterval: isTold ? SLOW_EVERY_MS : LIVE_EVERY_MS,
  });
}

/** `isTold` as in `useStats`. */
/** Undefined: a call that has no record yet. */
export function useCall(id: string | undefined, isTold: boolean) {
  const path = { id: id ?? "" };
  return useQuery({
    queryKey: ["call", id],
    enabled: id !== undefined,
    queryFn: () => answered(api.GET("/api/dashboard/calls/{id}", { params: { path } })),
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined) return false;
      if (data.status !== "active") return isMoreAwaited(data) && LIVE_EVERY_MS;
      return isTold ? SLOW_EVERY_MS : LIVE_EVERY_MS;
    },
  });
}

/** A summary is made after the call has ended, and a recording is whole some moments later, if there is one at all. */
function isMoreAwaited({ summary, endedAt, metadata }: Answered<"getCall">): boolean {
  if (endedAt === undefined) return false;
  const sinceMs = Math.abs(nowMs() - Date.parse(endedAt));
  if (summary === undefined && sinceMs < SUMMARY_WAIT_MAX_MS) return true;
  return metadata?.["recording"] === undefined && sinceMs < RECORDING_WAIT_MAX_MS;
}

export function useUsage(days: number) {
  const query = { days };
  return useQuery({
    queryKey: ["usage", days],
    queryFn: () => answered(api.GET("/api/dashboard/analytics/usage", { params: { query } })),
  });
}

export function useUsageShares(days: number) {
  const query = { days };
  return useQuery({
    queryKey: ["usageShares", days],
    queryFn: () =>
      answered(api.GET("/api/dashboard/analytics/usage-shares", { params: { query } })),
  });
}

export function useVendorShares(days: number) {
  const query = { days };
  return useQuery({
    queryKey: ["vendorShares", days],
    queryFn: () =>
      answered(api.GET("/api/dashboard/analytics/vendor-shares", { params: { query } })),
  });
}

export function useWaits(days: number) {
  const query = { days };
  return useQuery({
    queryKey: ["waits", days],
    queryFn: () => answered(api.GET("/api/dashboard/analytics/waits", { params: { query } })),
    refetchInterval: SLOW_EVERY_MS,
  });
}

export function useProviders() {
  return useQuery({
    queryKey: ["providers"],
    queryFn: () => answered(api.GET("/api/dashboard/providers")),
    refetchInterval: SLOW_EVERY_MS,
  });
}

/** What agents can be made of is not what it was. */
export async function providersChanged(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ["providers"] });
  await queryClient.invalidateQueries({ queryKey: ["models"] });
}

export function useRegistry() {
  return useQuery({
    queryKey: ["registry"],
    queryFn: () => answered(api.GET("/api/dashboard/providers/registry")),
  });
}

/** All that agents can be made of, with what a larger plan has, as far as anybody would look through them. */
export function useModels(category: "llm" | "tts" | "stt") {
  return useQuery({ queryKey: ["models", category], queryFn: () => modelsOf(category) });
}

async function modelsOf(category: "llm" | "tts" | "stt") {
  const items: Answered<"searchModels">["items"] = [];
  for (let page = 0; page < MODEL_PAGES_MAX; page += 1) {
    const query = { category, skip: items.length, limit: MODELS_PER_PAGE };
    const found = await answered(api.GET("/api/dashboard/models/search", { params: { query } }));
    items.push(...found.items);
    if (found.items.length === 0 || items.length >= found.total) break;
  }
  return { items };
}

/** The voices of a TTS provider, as the server keeps them. */
export function useVoices(providerId: string) {
  const path = { id: providerId };
  return useQuery({
    queryKey: ["voices", providerId],
    queryFn: () => answered(api.GET("/api/dashboard/providers/{id}/voices", { params: { path } })),
    staleTime: VOICES_FRESH_MS,
  });
}

export function useApiKeys() {
  return useQuery({
    queryKey: ["apiKeys"],
    queryFn: () => answered(api.GET("/api/dashboard/api-keys")),
  });
}

/** One that is being read is asked about often. */
export function useDocuments() {
  return useQuery({
    queryKey: ["documents"],
    queryFn: () => answered(api.GET("/api/dashboard/knowledge/documents")),
    refetchInterval: ({ state }) =>
      state.data?.some(
        ({ status, embedding }) => status === "processing" || embedding === "pending",
      ) === true
        ? AWAITED_EVERY_MS
        : SLOW_EVERY_MS,
  });
}

export function useEmbeddings() {
  return useQuery({
    queryKey: ["embeddings"],
    queryFn: () => answered(api.GET("/api/dashboard/knowledge/embeddings")),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && data.error === null && data.embeddedPassages < data.passages
        ? AWAITED_EVERY_MS
        : SLOW_EVERY_MS,
  });
}

export function useWebhooks() {
  return useQuery({
    queryKey: ["webhooks"],
    queryFn: () => answered(api.GET("/api/dashboard/webhooks")),
    refetchInterval: SLOW_EVERY_MS,
  });
}

/** A secret is never in the answer. */
export function useWebhook(id: string) {
  const path = { id };
  return useQuery({
    queryKey: ["webhooks", id],
    queryFn: () => answered(api.GET("/api/dashboard/webhooks/{id}", { params: { path } })),
    refetchInterval: SLOW_EVERY_MS,
  });
}

/** Newest first, with whether there are older ones; `isAwaited` asks often for one that is on its way. */
export function useDeliveries(id: string, page: Page, isAwaited: boolean) {
  const path = { id };
  return useQuery({
    queryKey: ["deliveries", id, page],
    queryFn: async () => {
      const query = { skip: page.skip, limit: page.limit + 1 };
      return pageOf(
        await answered(
          api.GET("/api/dashboard/webhooks/{id}/deliveries", { params: { path, query } }),
        ),
        page,
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: isAwaited ? AWAITED_EVERY_MS : SLOW_EVERY_MS,
  });
}

/** As `useDeliveries`, of the durable jobs in a state. */
export function useJobs(state: "queued" | "running" | "failed", page: Page) {
  return useQuery({
    queryKey: ["jobs", state, page],
    queryFn: async () => {
      const query = { state, skip: page.skip, limit: page.limit + 1 };
      return pageOf(await answered(api.GET("/api/dashboard/jobs", { params: { query } })), page);
    },
    placeholderData: keepPreviousData,
    refetchInterval: SLOW_EVERY_MS,
  });
}

interface Page {
  readonly skip: number;
  readonly limit: number;
}

/** The API has no count of these, so one more is asked for than is shown. */
function pageOf<Item>(items: readonly Item[], { skip, limit }: Page) {
  return { skip, items: items.slice(0, limit), hasMore: items.length > limit };
}

export function useOutboundNumbers() {
  return useQuery({
    queryKey: ["phoneNumbers"],
    queryFn: () => answered(api.GET("/api/dashboard/phone-numbers")),
  });
}

/** Page by page, in ascending order. */
export function useDoNotCall() {
  return useInfiniteQuery({
    queryKey: ["doNotCall"],
    initialPageParam: "",
    queryFn: ({ pageParam: after }) =>
      answered(api.GET("/api/dashboard/do-not-call", { params: { query: { after } } })),
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}

/** Those that are calling are asked about often. */
export function useCallLists() {
  return useQuery({
    queryKey: ["callLists"],
    queryFn: () => answered(api.GET("/api/dashboard/call-lists")),
    refetchInterval: ({ state }) =>
      state.data?.some(isCalling) === true ? LIVE_EVERY_MS : SLOW_EVERY_MS,
  });
}

/** For pages on which the lists are a side matter: their people are counted for each answer. */
export function useCallListsSlowly() {
  return useQuery({
    queryKey: ["callLists"],
    queryFn: () => answered(api.GET("/api/dashboard/call-lists")),
    refetchInterval: SLOW_EVERY_MS,
  });
}

export function useCallList(id: string) {
  const path = { id };
  return useQuery({
    queryKey: ["callLists", id],
    queryFn: () => answered(api.GET("/api/dashboard/call-lists/{id}", { params: { path } })),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isCalling(state.data) ? LIVE_EVERY_MS : SLOW_EVERY_MS,
  });
}

/** The people of a list, in its order. */
export function useCallListRows(
  id: string,
  state: Answered<"listCallListRows">["rows"][number]["state"] | undefined,
  isRunning: boolean,
) {
  const path = { id };
  return useInfiniteQuery({
    queryKey: ["callLists", id, "rows", state],
    initialPageParam: 0,
    queryFn: ({ pageParam: after }) => {
      const query = { after, ...(state === undefined ? {} : { state }) };
      return answered(api.GET("/api/dashboard/call-lists/{id}/rows", { params: { path, query } }));
    },
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: isRunning ? LIVE_EVERY_MS : SLOW_EVERY_MS,
  });
}

function isCalling({ state, counts }: Answered<"listCallLists">[number]): boolean {
  return state === "running" || counts.calling > 0;
}

/** Credentials are never in the answer. */
export function useTelephonyAccounts() {
  return useQuery({
    queryKey: ["telephonyAccounts"],
    queryFn: () => answered(api.GET("/api/dashboard/telephony-accounts")),
  });
}

export function useTelephonyVendors() {
  return useQuery({
    queryKey: ["telephonyVendors"],
    queryFn: () => answered(api.GET("/api/dashboard/telephony-vendors")),
  });
}

/** Asks the vendor. */
export function useAccountNumbers(id: string) {
  const path = { id };
  return useQuery({
    queryKey: ["telephonyAccounts", id, "numbers"],
    queryFn: () =>
      answered(api.GET("/api/dashboard/telephony-accounts/{id}/numbers", { params: { path } })),
  });
}

export function useMembers() {
  return useQuery({
    queryKey: ["members"],
    queryFn: () => answered(api.GET("/api/dashboard/members")),
  });
}

/** Newest first; the page before stays in sight until the next one is there. */
export function useAudit(skip: number, limit: number) {
  const query = { skip, limit };
  return useQuery({
    queryKey: ["audit", query],
    queryFn: () => answered(api.GET("/api/dashboard/audit", { params: { query } })),
    placeholderData: keepPreviousData,
  });
}
