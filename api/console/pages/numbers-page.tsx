import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link } from "wouter";
import { ApiError, answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { useAgents } from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { CheckField, SelectField, TextField } from "../parts/forms/field.js";
import { PageHead } from "../parts/page-head.js";
import { Fault, Loaded } from "../parts/states.js";

type Agent = Answered<"getAgent">;

export function NumbersPage() {
  const agents = useAgents();
  return (
    <>
      <PageHead title="Numbers" about="Agents on the telephone: called, and calling." />
      <section className="card stack">
        <h2>Have a number answered</h2>
        <p>
          At the company that has your number, set the address for incoming calls to this, with an
          API key of the scope “voice” and, where you have several agents, the agent’s id. Twilio,
          SignalWire, Plivo, Telnyx, Vonage and jambonz are understood.
        </p>
        <code className="secret">{SERVER_URL}/api/telephony/voice?api_key=vk_…&amp;agent_id=…</code>
        <p className="soft">
          From which numbers your agents may call is set by the people who run this server.
        </p>
      </section>
      <section className="card stack">
        <h2>Let an agent call somebody</h2>
        <Loaded query={agents}>
          {(all) =>
            all.length === 0 ? (
              <p className="soft">
                <Link href="/start">Make an agent first</Link>: it is the one who calls.
              </p>
            ) : (
              <PlaceCall agents={all} />
            )
          }
        </Loaded>
      </section>
    </>
  );
}

function PlaceCall({ agents }: { agents: readonly Agent[] }) {
  const [agentId, setAgentId] = useState(agents[0]?._id ?? "");
  const [to, setTo] = useState("");
  const [from, setFrom] = useState("");
  const [detectMachine, setDetectMachine] = useState(true);
  const place = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/dashboard/calls", { body: { agentId, to, from, detectMachine } })),
  });
  const details = place.error instanceof ApiError ? place.error.details : [];
  const wrongAt = (path: string) => details.find((each) => each.path === path)?.message;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    place.mutate();
  };
  const options = agents.map(({ _id, name }) => ({ value: _id, label: name }));
  const hint = "With the country’s code, as +15550100.";
  return (
    <form className="stack" onSubmit={onSubmit}>
      <div className="grid2">
        <SelectField label="Agent" value={agentId} onChange={setAgentId} options={options} />
        <TextField
          {...{ label: "Calls", hint, value: to, onChange: setTo, wrong: wrongAt("to") }}
          type="tel"
          required
        />
        <TextField
          {...{ label: "From", hint, value: from, onChange: setFrom, wrong: wrongAt("from") }}
          type="tel"
          required
        />
      </div>
      <CheckField
        label="Hang up on answering machines"
        value={detectMachine}
        onChange={setDetectMachine}
      />
      {place.error === null ? null : <Fault error={place.error} />}
      <div className="row">
        <button type="submit" className="button main" disabled={place.isPending}>
          Place the call
        </button>
        <span role="status">
          {place.data === undefined ? "" : "It rings in a moment, and stands under Calls then."}
        </span>
      </div>
    </form>
  );
}
