import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { answered, api } from "./api.js";
import { skipOf } from "./page-numbers.js";
import { providersChanged, queryClient } from "./queries.js";

const EVERY_MS = 15_000;

export const ORGANIZATIONS_PER_PAGE = 20;
/** As many as the API takes. */
export const WORDS_CHARACTERS_MAX = 100;
const STATUSES = ["active", "pending"] as const;

/** What the address bar says of which organizations are shown; what cannot be understood is left out. */
export function pageOf(search: URLSearchParams) {
  const status = STATUSES.find((each) => each === search.get("status"));
  const words = search.get("words")?.trim().slice(0, WORDS_CHARACTERS_MAX) ?? "";
  return {
    ...(status === undefined ? {} : { status }),
    ...(words === "" ? {} : { words }),
    skip: skipOf(search, ORGANIZATIONS_PER_PAGE),
    limit: ORGANIZATIONS_PER_PAGE,
  };
}

/** The page before stays in sight until the next one is there. */
export function usePlatformOrganizations(query: ReturnType<typeof pageOf>) {
  return useQuery({
    queryKey: ["platform", "organizations", query],
    queryFn: () => answered(api.GET("/api/operator/organizations", { params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
}

export function usePlatformOrganization(id: string) {
  const path = { id };
  return useQuery({
    queryKey: ["platform", "organizations", id],
    queryFn: () => answered(api.GET("/api/operator/organizations/{id}", { params: { path } })),
    refetchInterval: EVERY_MS,
  });
}

export function useAllPlans() {
  return useQuery({
    queryKey: ["platform", "plans"],
    queryFn: () => answered(api.GET("/api/operator/plans")),
  });
}

export function useNodes() {
  return useQuery({
    queryKey: ["platform", "nodes"],
    queryFn: () => answered(api.GET("/api/operator/nodes")),
    refetchInterval: EVERY_MS,
  });
}

export function useGlobalProviders() {
  return useQuery({
    queryKey: ["platform", "providers"],
    queryFn: () => answered(api.GET("/api/operator/providers")),
    refetchInterval: EVERY_MS,
  });
}

/** Organizations use them, so their own lists of providers have changed, too. */
export async function globalProvidersChanged(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ["platform", "providers"] });
  await providersChanged();
}
