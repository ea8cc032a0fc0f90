import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import {
  ORGANIZATIONS_PER_PAGE,
  pageOf,
  useNodes,
  usePlatformOrganizations,
  WORDS_CHARACTERS_MAX,
} from "../model/platform-queries.js";
import { queryClient } from "../model/queries.js";
import { ConfirmDialog } from "../parts/forms/confirm-dialog.js";
import {
  ChipSelect,
  type Choice,
  useAddressFilters,
  WordsField,
} from "../parts/forms/filter-fields.js";
import { Moment } from "../parts/moment.js";
import { Pager } from "../parts/pager.js";
import { Empty, Loaded } from "../parts/states.js";
import { TabbedPage } from "../parts/tabbed-page.js";
import { NODE_WORDS, ofMostWords, STATUS_WORDS } from "../words/platform-words.js";
import { PlatformProviders } from "./platform-providers.js";

type ListedNode = Answered<"listNodes">[number];

const STATES = { taking: "live", full: "warn", draining: "warn", silent: "fault" } as const;

export function PlatformNodes() {
  const nodes = useNodes();
  return (
    <>
      <p className="soft">Load is the number of runnable processes per core: above 1, some wait.</p>
      <Loaded query={nodes}>{(all) => <NodeTable nodes={all} />}</Loaded>
    </>
  );
}

function NodeTable({ nodes }: { nodes: readonly ListedNode[] }) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">State</th>
            <th scope="col" className="number">
              Calls
            </th>
            <th scope="col" className="number">
              Load
            </th>
            <th scope="col" className="spare">
              Version
            </th>
            <th scope="col" className="spare">
              Up since
            </th>
            <th scope="col">
              <span className="hidden">Drain</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <tr key={node.name}>
              <th scope="row" className="name">
                <bdi>{node.name}</bdi>
                {node.address === null ? null : <div className="soft">{node.address}</div>}
              </th>
              <td>
                <span className={`state ${STATES[node.state]}`}>{NODE_WORDS[node.state]}</span>
              </td>
              <td className="number">
                {node.callsMax === 0
                  ? node.calls.toLocaleString()
                  : ofMostWords(node.calls, node.callsMax)}
              </td>
              <td className="number">{node.load.toFixed(2)}</td>
              <td className="spare">{node.version}</td>
              <td className="spare">
                <Moment at={node.startedAt} />
              </td>
              <td className="number">
                {nodes.length > 1 && (node.state === "taking" || node.state === "full") ? (
                  <DrainNode name={node.name} />
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DrainNode({ name }: { name: string }) {
  const [isAsking, setAsking] = useState(false);
  const drain = useMutation({
    mutationFn: () => {
      const params = { path: { id: name } };
      return answered(api.POST("/api/operator/nodes/{id}/drain", { params }));
    },
    onSuccess: async () => {
      setAsking(false);
      await queryClient.invalidateQueries({ queryKey: ["platform", "nodes"] });
    },
  });
  return (
    <>
      <button
        type="button"
        className="button"
        aria-label={`Drain ${name}`}
        onClick={() => setAsking(true)}
      >
        Drain
      </button>
      {isAsking ? (
        <ConfirmDialog
          title={`Drain ${name}?`}
          consequence="It takes no new calls until it is started again. Calls in progress finish."
          keep="Leave it"
          action="Drain"
          isBusy={drain.isPending}
          error={drain.error}
          onKeep={() => setAsking(false)}
          onAct={() => drain.mutate()}
        />
      ) : null}
    </>
  );
}

type Page = Answered<"listOrganizations">;

const STATUSES: readonly Choice[] = [
  { value: "", label: "Any status" },
  { value: "pending", label: "Pending" },
  { value: "active", label: "Active" },
];

export function PlatformOrganizations() {
  const { search, choose } = useAddressFilters();
  const page = pageOf(search);
  const organizations = usePlatformOrganizations(page);
  return (
    <>
      <div className="chips filters" role="group" aria-label="Filters">
        <WordsField
          key={search.get("words")}
          label="Name or e-mail"
          charactersMax={WORDS_CHARACTERS_MAX}
          words={search.get("words") ?? ""}
          onChange={choose("words")}
        />
        <ChipSelect
          label="Status"
          choices={STATUSES}
          value={page.status ?? ""}
          onChange={choose("status")}
        />
      </div>
      <Loaded query={organizations}>
        {(found) =>
          found.items.length === 0 ? (
            <Empty title="No organizations match">
              <p>Remove a filter to see more.</p>
              <Link className="button" href="/platform/organizations">
                Show all organizations
              </Link>
            </Empty>
          ) : (
            <>
              <OrganizationTable items={found.items} />
              <Pager
                label="More organizations"
                address="/platform/organizations"
                search={search}
                perPage={ORGANIZATIONS_PER_PAGE}
                shown={found}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function OrganizationTable({ items }: Pick<Page, "items">) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Organization</th>
            <th scope="col">Status</th>
            <th scope="col" className="spare">
              Plan
            </th>
            <th scope="col" className="number">
              Calls now
            </th>
            <th scope="col" className="number spare">
              Minutes this month
            </th>
            <th scope="col" className="spare">
              Since
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((each) => (
            <tr key={each.id}>
              <th scope="row" className="name">
                <Link href={`/platform/organizations/${each.id}`} data-row>
                  <bdi className="clamped" title={each.name}>
                    {each.name}
                  </bdi>
                </Link>
                <div className="soft">{each.ownerEmail}</div>
              </th>
              <td>
                <span className={each.status === "active" ? "state good" : "state warn"}>
                  {STATUS_WORDS[each.status]}
                </span>
              </td>
              <td className="spare">{each.planName}</td>
              <td className="number">
                {ofMostWords(each.activeCalls, each.limits.maxConcurrentCalls)}
              </td>
              <td className="number spare">
                {ofMostWords(Math.round(each.monthMinutes), each.limits.maxMonthlyMinutes)}
              </td>
              <td className="spare">
                <Moment at={each.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const TABS = [
  { id: "organizations", title: "Organizations", Content: PlatformOrganizations },
  { id: "providers", title: "Providers", Content: PlatformProviders },
  { id: "servers", title: "Servers", Content: PlatformNodes },
] as const;

const ABOUT = "Every organization, global provider and server of this installation.";

/** For operators: what is everybody's on this installation. */
export function PlatformPage({ tab }: { tab: string }) {
  return <TabbedPage title="Platform" about={ABOUT} address="/platform" tabs={TABS} tab={tab} />;
}
