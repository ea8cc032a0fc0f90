import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { useNodes } from "../model/platform-queries.js";
import { queryClient } from "../model/queries.js";
import { NODE_WORDS, ofMostWords } from "../words/platform-words.js";
import { AskDialog } from "./forms/ask-dialog.js";
import { Moment } from "./moment.js";
import { Loaded } from "./states.js";

type ListedNode = Answered<"listNodes">[number];

const STATES = { taking: "live", full: "warn", draining: "warn", silent: "fault" } as const;

export function PlatformNodes() {
  const nodes = useNodes();
  return (
    <>
      <p className="soft">
        Load is how many processes wanted a core lately, for each core: above 1, some wait.
      </p>
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
        <AskDialog
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
