import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { ApiError, answered, api } from "../model/api.js";
import type { Answered, Sent } from "../model/contract-paths.js";
import {
  queryClient,
  useAgents,
  useOutboundNumbers,
  useTelephonyAccounts,
  useTelephonyVendors,
} from "../model/queries.js";
import { isKnown } from "../model/query-state.js";
import { SERVER_URL } from "../model/server-address.js";
import { CopyButton } from "../parts/copy-button.js";
import { type Figure, Figures } from "../parts/figures.js";
import { ConfirmButton } from "../parts/forms/confirm-dialog.js";
import { CheckField, SelectField, TextField } from "../parts/forms/field.js";
import { PageHead } from "../parts/page-head.js";
import { Fault, Loaded, Outline } from "../parts/states.js";
import { PLAYED } from "./call-page.js";
import { DoNotCall } from "./do-not-call.js";
import { TelephonyAccounts } from "./telephony-accounts.js";

type Agent = Answered<"getAgent">;

type Allowed = Answered<"getOutboundNumbers">;

export function NumbersPage() {
  const agents = useAgents();
  const allowed = useOutboundNumbers();
  const accounts = useTelephonyAccounts();
  const vendors = useTelephonyVendors();
  // Accounts that come later push away what stands below them.
  const areAccountsKnown = isKnown(accounts) && isKnown(vendors);
  const data =
    agents.data && allowed.data && areAccountsKnown
      ? { all: agents.data, numbers: allowed.data }
      : undefined;
  const error = agents.error ?? allowed.error;
  const refetch = () => Promise.all([agents.refetch(), allowed.refetch()]);
  return (
    <>
      <PageHead title="Numbers" about="Inbound and outbound telephone calls of your agents." />
      <Loaded query={{ data, error, refetch }} outline={<Outline lines={3} height={200} />}>
        {({ all, numbers }) => (
          <>
            <section className="card stack">
              <h2>Inbound calls</h2>
              <InboundNumbers agents={all} numbers={numbers.inbound} />
              <Inbound agents={all} />
            </section>
            <section className="card stack">
              <h2>Your telephony accounts</h2>
              <TelephonyAccounts agents={all} />
            </section>
            {numbers.simulated ? null : (
              <section className="card stack">
                <h2>Allowed numbers</h2>
                <AllowedNumbers allowed={numbers} />
              </section>
            )}
            <section className="card stack">
              <h2>Outbound call</h2>
              {numbers.simulated ? <SimulatedTelephone /> : null}
              {all.length === 0 ? (
                <p className="soft">
                  <Link href="/start">Make an agent first</Link>; it places the call.
                </p>
              ) : (
                <PlaceCall agents={all} allowed={numbers} />
              )}
            </section>
            <section className="card stack">
              <h2>Do not call</h2>
              <DoNotCall />
            </section>
          </>
        )}
      </Loaded>
    </>
  );
}

const FIRST_AGENT = "The first active agent";

interface InboundNumbersProps {
  readonly agents: readonly Agent[];
  readonly numbers: Allowed["inbound"];
}

/** Who answers at each number of the organization. */
function InboundNumbers({ agents, numbers }: InboundNumbersProps) {
  if (numbers.length === 0) return null;
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Number</th>
            <th scope="col" className="spare">
              Vendor
            </th>
            <th scope="col">Answered by</th>
            <th scope="col">
              <span className="hidden">Release</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {numbers.map((each) => (
            <tr key={each.number}>
              <td>
                <bdi>{each.number}</bdi>
              </td>
              <td className="spare soft">{each.vendor ?? "any"}</td>
              <td>
                <AnsweringAgent agents={agents} number={each} />
              </td>
              <td className="number">
                {each.isImported ? <ReleaseNumber number={each.number} /> : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ReleaseNumber({ number }: { number: string }) {
  return (
    <ConfirmButton
      action="Release"
      name={number}
      consequence="No agent answers or calls from it any more. It stays in your account."
      keep="Keep it"
      act={() => {
        const params = { path: { id: number } };
        return answered(api.DELETE("/api/dashboard/phone-numbers/{id}", { params }));
      }}
      onDone={() =>
        Promise.all([
          queryClient.invalidateQueries({ queryKey: ["phoneNumbers"] }),
          queryClient.invalidateQueries({ queryKey: ["telephonyAccounts"] }),
        ])
      }
    />
  );
}

interface AnsweringAgentProps {
  readonly agents: readonly Agent[];
  readonly number: Allowed["inbound"][number];
}

function AnsweringAgent({ agents, number: { number, agentId } }: AnsweringAgentProps) {
  const change = useMutation({
    mutationFn: (body: Sent<"updatePhoneNumber">) => {
      const params = { path: { id: number } };
      return answered(api.PATCH("/api/dashboard/phone-numbers/{id}", { params, body }));
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["phoneNumbers"] }),
  });
  const chosen = change.isPending ? change.variables.agentId : agentId;
  return (
    <>
      <select
        className="chip"
        aria-label={`Agent that answers ${number}`}
        value={chosen ?? ""}
        aria-busy={change.isPending}
        onChange={({ target }) => {
          // Not disabled meanwhile: that would take the keyboard's focus away.
          if (!change.isPending)
            change.mutate({ agentId: target.value === "" ? null : target.value });
        }}
      >
        <option value="">{FIRST_AGENT}</option>
        {agents.map(({ _id, name }) => (
          <option key={_id} value={_id}>
            {name}
          </option>
        ))}
      </select>
      {change.error === null ? null : <Fault error={change.error} />}
    </>
  );
}

/** The address that a vendor of telephony asks, which says what agent answers. */
function Inbound({ agents }: { agents: readonly Agent[] }) {
  const [agentId, setAgentId] = useState(agents[0]?._id ?? "");
  const options = agents.map(({ _id, name }) => ({ value: _id, label: name }));
  const ofAgent = agentId === "" ? "" : `&agent_id=${agentId}`;
  const address = `${SERVER_URL}/api/telephony/voice?api_key=vk_…${ofAgent}`;
  return (
    <>
      <p>
        At your telephony provider, set the address for incoming calls to this, with an{" "}
        <Link href="/settings/keys">API key</Link> of the scope “voice”. Twilio, SignalWire, Plivo,
        Telnyx, Vonage and jambonz are supported. Without <code>agent_id</code>, the agent of the
        called number answers.
      </p>
      {agents.length === 0 ? null : (
        <SelectField label="Answered by" value={agentId} onChange={setAgentId} options={options} />
      )}
      <code className="secret">{address}</code>
      <div>
        <CopyButton text={address} what="the address" />
      </div>
    </>
  );
}

/** In the sandbox nothing has to be allowed. */
function SimulatedTelephone() {
  return (
    <p className="note warn">
      Sandbox: no telephone rings. A simulated person answers each call that an agent places,
      whatever the numbers.
    </p>
  );
}

/** What the administrator has allowed. */
function AllowedNumbers({ allowed: { configured, numbers, targets } }: { allowed: Allowed }) {
  const figures: readonly Figure[] = [
    ["Agents may call from", numbers.join(", ") || "no number yet"],
    ["To numbers that begin with", targets.join(", ") || "none yet"],
  ];
  return (
    <>
      {configured ? null : (
        <p className="note warn">No telephony account is set up, so no call can be placed.</p>
      )}
      <Figures figures={figures} />
      <p className="soft">
        The server's operator allows numbers with <code>npm run admin -- number</code>.
      </p>
    </>
  );
}

interface PlaceCallProps {
  readonly agents: readonly Agent[];
  readonly allowed: Allowed;
}

function PlaceCall({ agents, allowed: { simulated, numbers } }: PlaceCallProps) {
  const [agentId, setAgentId] = useState(agents[0]?._id ?? "");
  const [to, setTo] = useState("");
  const [from, setFrom] = useState(numbers[0] ?? "");
  const [detectMachine, setDetectMachine] = useState(true);
  const [isTyped, setIsTyped] = useState(false);
  const person = simulated && isTyped ? "typed" : "scripted";
  const place = useMutation({
    mutationFn: () =>
      answered(
        api.POST("/api/dashboard/calls", { body: { agentId, to, from, detectMachine, person } }),
      ),
  });
  const details = place.error instanceof ApiError ? place.error.details : [];
  const wrongAt = (path: string) => details.find((each) => each.path === path)?.message;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    place.mutate();
  };
  const options = agents.map(({ _id, name }) => ({ value: _id, label: name }));
  const hint = "With the country code, such as +15550100.";
  return (
    <form className="stack" onSubmit={onSubmit}>
      <div className="grid2">
        <SelectField label="Agent" value={agentId} onChange={setAgentId} options={options} />
        <TextField
          {...{ label: "Number to call", hint, value: to, onChange: setTo, wrong: wrongAt("to") }}
          type="tel"
          required
        />
        {numbers.length === 0 ? (
          <TextField
            {...{ label: "From", hint, value: from, onChange: setFrom, wrong: wrongAt("from") }}
            type="tel"
            required
          />
        ) : (
          <SelectField
            label="From"
            value={from}
            onChange={setFrom}
            wrong={wrongAt("from")}
            options={numbers.map((number) => ({ value: number, label: number }))}
          />
        )}
      </div>
      <CheckField
        label="Detect answering machines"
        hint="The agent leaves its message for them, or hangs up if it has none."
        value={detectMachine}
        onChange={setDetectMachine}
      />
      {simulated ? (
        <CheckField
          label="I answer this call myself, by typing"
          value={isTyped}
          onChange={setIsTyped}
        />
      ) : null}
      {place.error === null ? null : <Fault error={place.error} />}
      <div className="row">
        <button type="submit" className="button main" disabled={place.isPending}>
          Place the call
        </button>
        <span role="status">
          {place.data === undefined ? null : person === "typed" ? (
            <AnswerByTyping callId={place.data.id} agentId={agentId} />
          ) : (
            <>
              {simulated ? "A simulated person answers in a moment. " : "It rings in a moment. "}
              It is listed under Calls once it is answered.
            </>
          )}
        </span>
      </div>
    </form>
  );
}

const ANSWER_POLL_MS = 400;
/** Ten seconds: in the sandbox a person answers at once. */
const ANSWER_POLLS_MAX = 25;

const NOT_FOUND = 404;
/** The page looks for its call among this many of the latest calls, in case others begin at the same time. */
const LATEST_CALLS = 20;

interface AnswerByTypingProps {
  readonly callId: string;
  readonly agentId: string;
}

/** Opens the call's page as soon as the call is answered: before, there is no record of it, so the list is asked. */
function AnswerByTyping({ callId, agentId }: AnswerByTypingProps) {
  const [, navigate] = useLocation();
  const listed = useQuery({
    queryKey: ["answered", callId],
    queryFn: async () => {
      const query = { agentId, direction: "outbound", limit: LATEST_CALLS } as const;
      const latest = await answered(api.GET("/api/dashboard/calls", { params: { query } }));
      const call = latest.items.find(({ _id }) => _id === callId);
      if (call === undefined) throw new ApiError(NOT_FOUND, "The call was not answered.");
      return call;
    },
    retry: ANSWER_POLLS_MAX,
    retryDelay: ANSWER_POLL_MS,
  });
  const isAnswered = listed.data !== undefined;
  useEffect(() => {
    if (isAnswered) navigate(`/calls/${callId}?${PLAYED}`);
  }, [isAnswered, callId, navigate]);
  return listed.error === null ? (
    <>Connecting you with the agent…</>
  ) : (
    <Fault error={listed.error} />
  );
}
