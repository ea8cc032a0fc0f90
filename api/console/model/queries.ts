import { QueryClient, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ApiFault, answered, api } from "./api.js";
import type { CallFilters } from "./call-filters.js";

/** Live pages ask again so often, and only while they are looked at. */
const LIVE_EVERY_MS = 3_000;
const SLOW_EVERY_MS = 15_000;
const FRESH_MS = 5_000;
const TRIES_MAX = 2;
const CALLS_PER_PAGE = 100;

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

function isPassing(error: unknown): boolean {
  return error instanceof ApiFault && (error.status === 0 || error.status >= 500);
}

export function useMe() {
  return useQuery({ queryKey: ["me"], queryFn: () => answered(api.GET("/api/auth/me")) });
}

export function useOrganization() {
  return useQuery({
    queryKey: ["organization"],
    queryFn: () => answered(api.GET("/api/dashboard/organization")),
  });
}

export function useReady() {
  return useQuery({
    queryKey: ["ready"],
    queryFn: () => answered(api.GET("/api/ready")),
    refetchInterval: SLOW_EVERY_MS,
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

/** A few calls that are looked at as they change; `isTold` as in `useStats`. */
export function useLatestCalls(filters: CallFilters, limit: number, isTold: boolean) {
  const query = { ...filters, limit };
  return useQuery({
    queryKey: ["latestCalls", query],
    queryFn: () => answered(api.GET("/api/dashboard/calls", { params: { query } })),
    refetchInterval: isTold ? SLOW_EVERY_MS : LIVE_EVERY_MS,
  });
}

export function useCall(id: string) {
  const path = { id };
  return useQuery({
    queryKey: ["call", id],
    queryFn: () => answered(api.GET("/api/dashboard/calls/{id}", { params: { path } })),
    refetchInterval: ({ state }) => (state.data?.status === "active" ? LIVE_EVERY_MS : false),
  });
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

export function useRegistry() {
  return useQuery({
    queryKey: ["registry"],
    queryFn: () => answered(api.GET("/api/dashboard/providers/registry")),
  });
}

export function useModels(category: "llm" | "tts" | "stt") {
  const query = { category, limit: 100 };
  return useQuery({
    queryKey: ["models", category],
    queryFn: () => answered(api.GET("/api/dashboard/models/search", { params: { query } })),
  });
}

export function useApiKeys() {
  return useQuery({
    queryKey: ["apiKeys"],
    queryFn: () => answered(api.GET("/api/dashboard/api-keys")),
  });
}

export function useMembers() {
  return useQuery({
    queryKey: ["members"],
    queryFn: () => answered(api.GET("/api/dashboard/members")),
  });
}

export function useAudit() {
  const query = { limit: 100 };
  return useQuery({
    queryKey: ["audit"],
    queryFn: () => answered(api.GET("/api/dashboard/audit", { params: { query } })),
  });
}
