import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api } from "../../model/api.js";
import { useAgent } from "../../model/queries.js";
import { isFields } from "../../model/tool-parameters.js";
import { Fault } from "../states.js";
import { TextField } from "./field.js";

/** Runs saved HTTP tools once, as a call would, and shows what was asked and what came of it. */
export function ToolTrials({ agentId }: { agentId: string }) {
  const agent = useAgent(agentId).data;
  const names = (agent?.tools ?? []).flatMap((tool) => (tool.type === "http" ? [tool.name] : []));
  const variables = agent?.variables ?? [];
  if (names.length === 0) return null;
  return (
    <section className="card stack" aria-labelledby="tool-trials-title">
      <h2 id="tool-trials-title">Try a tool</h2>
      <p className="soft">It runs as it is saved, and its service does what it is asked.</p>
      {names.map((name) => (
        <ToolTrial key={name} agentId={agentId} name={name} names={variables} />
      ))}
    </section>
  );
}

interface ToolTrialProps {
  readonly agentId: string;
  readonly name: string;
  /** Names of the agent's variables. */
  readonly names: readonly string[];
}

function ToolTrial({ agentId, name, names }: ToolTrialProps) {
  const [text, setText] = useState("{}");
  const [variables, setVariables] = useState<Readonly<Record<string, string>>>({});
  const given = argumentsOf(text);
  const trial = useMutation({
    mutationFn: () =>
      answered(
        api.POST("/api/dashboard/agents/{id}/tool-tests", {
          params: { path: { id: agentId } },
          body: { name, arguments: given ?? {}, variables },
        }),
      ),
  });
  return (
    <details>
      <summary>{name}</summary>
      <div className="stack">
        <TextField
          label="Arguments, as JSON"
          isLong
          value={text}
          onChange={setText}
          wrong={given === undefined ? "expected an object, in JSON" : undefined}
        />
        {names.map((variable) => (
          <TextField
            key={variable}
            label={`Value of ${variable}`}
            value={variables[variable] ?? ""}
            onChange={(value) => setVariables({ ...variables, [variable]: value })}
          />
        ))}
        <div>
          <button
            type="button"
            className="button"
            disabled={given === undefined || trial.isPending}
            onClick={() => trial.mutate()}
          >
            {trial.isPending ? "Running…" : "Run the tool"}
          </button>
        </div>
        {trial.error === null ? null : <Fault error={trial.error} />}
        {trial.data === undefined ? null : (
          <div className="stack" role="status">
            <p>
              {trial.data.ok ? "It worked" : "It failed"}
              {trial.data.status === null ? "" : `, with status ${trial.data.status}`}, in{" "}
              {trial.data.durationMs} ms.
            </p>
            <pre className="wrapped" tabIndex={0} aria-label="Request">
              {JSON.stringify(trial.data.request, null, 2)}
            </pre>
            <pre className="wrapped" tabIndex={0} aria-label="Result for the LLM">
              {trial.data.content}
            </pre>
          </div>
        )}
      </div>
    </details>
  );
}

function argumentsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
