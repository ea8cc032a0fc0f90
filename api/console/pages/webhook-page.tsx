import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { answered, api } from "../model/api.js";
import { nowMs } from "../model/browser-clock.js";
import type { Answered, Sent } from "../model/contract-paths.js";
import { skipOf } from "../model/page-numbers.js";
import { queryClient, useDeliveries, useWebhook } from "../model/queries.js";
import { type Figure, Figures } from "../parts/figures.js";
import { ConfirmDialog } from "../parts/forms/confirm-dialog.js";
import { TextField } from "../parts/forms/field.js";
import { FormDialog } from "../parts/forms/form-dialog.js";
import { ShownSecret } from "../parts/forms/shown-secret.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { Steps } from "../parts/pager.js";
import { Empty, Fault, Loaded, Outline } from "../parts/states.js";
import { WebhookForm } from "../parts/webhook-form.js";
import { answerWords, endpointState, isAcknowledged } from "../words/webhook-words.js";

const DELIVERIES_PER_PAGE = 20;
const HOUR_MS = 3_600_000;

type Endpoint = Answered<"getWebhook">;
type Delivery = Answered<"listWebhookDeliveries">[number];
type OpenDialog = "change" | "rotate" | "remove" | "replay";

/** One endpoint, and what was sent to it. */
export function WebhookPage({ id }: { id: string }) {
  const endpoint = useWebhook(id);
  return (
    <Loaded
      query={endpoint}
      head={<PageHead title="Webhook endpoint" />}
      outline={<Outline lines={4} height={72} />}
      notFoundContent={
        <Link className="button" href="/settings/webhooks">
          All endpoints
        </Link>
      }
    >
      {(whole) => <EndpointView endpoint={whole} />}
    </Loaded>
  );
}

function EndpointView({ endpoint }: { endpoint: Endpoint }) {
  const { id } = endpoint;
  const [asked, setAsked] = useState<OpenDialog>();
  const [testId, setTestId] = useState<string>();
  const close = () => setAsked(undefined);
  const isActive = endpoint.state === "active";
  const button = (what: OpenDialog, label: string) => (
    <button type="button" className="button" onClick={() => setAsked(what)}>
      {label}
    </button>
  );
  return (
    <>
      <PageHead
        title={endpoint.name}
        about={
          <>
            <Link href="/settings/webhooks">Webhooks</Link> · {endpoint.url}
          </>
        }
      >
        {isActive ? <TestEndpoint id={id} onSent={setTestId} /> : null}
        {button("change", "Change")}
        {button("rotate", "New secret")}
        {isActive ? button("replay", "Replay") : null}
        {button("remove", "Remove")}
      </PageHead>
      <EndpointState endpoint={endpoint} />
      <Deliveries id={id} testId={testId} isActive={isActive} />
      {asked === "change" ? <ChangeEndpoint endpoint={endpoint} onClose={close} /> : null}
      {asked === "rotate" ? <RotateSecret endpoint={endpoint} onClose={close} /> : null}
      {asked === "remove" ? <RemoveEndpoint endpoint={endpoint} onClose={close} /> : null}
      {asked === "replay" ? <Replay id={id} onClose={close} /> : null}
    </>
  );
}

function useChange({ id }: Endpoint, onChanged: () => void) {
  return useMutation({
    mutationFn: (body: Sent<"updateWebhook">) =>
      answered(api.PATCH("/api/dashboard/webhooks/{id}", { params: { path: { id } }, body })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["webhooks"] });
      onChanged();
    },
  });
}

function EndpointState({ endpoint }: { endpoint: Endpoint }) {
  const change = useChange(endpoint, () => undefined);
  const { state, disabledReason, failingSince, eventTypes, includeTranscript } = endpoint;
  const isDisabled = state === "disabled";
  const figures: readonly Figure[] = [
    ["State", endpointState(endpoint).text],
    ["Events", eventTypes.join(", ")],
    ["Transcript", includeTranscript ? "included" : "not included"],
  ];
  return (
    <section className="card stack">
      <Figures figures={figures} />
      {isDisabled ? (
        <p className="note fault">
          Nothing is sent: {disabledReason ?? "it was disabled"}. What waited is under{" "}
          <Link href="/settings/jobs">Jobs</Link>.
        </p>
      ) : null}
      {failingSince === null || isDisabled ? null : (
        <p className="note warn">
          It has acknowledged nothing since <Moment at={failingSince} />. After five days it is
          disabled.
        </p>
      )}
      {change.error === null ? null : <Fault error={change.error} />}
      <div>
        <button
          type="button"
          className={isDisabled ? "button main" : "button"}
          disabled={change.isPending}
          onClick={() => change.mutate({ state: isDisabled ? "active" : "disabled" })}
        >
          {isDisabled ? "Enable" : "Disable"}
        </button>
      </div>
    </section>
  );
}

function ChangeEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const change = useChange(endpoint, onClose);
  const { name, url, eventTypes, includeTranscript } = endpoint;
  return (
    <WebhookForm
      title="Change the endpoint"
      action="Save"
      initial={{ name, url, eventTypes, includeTranscript }}
      isBusy={change.isPending}
      error={change.error}
      onSubmit={(draft) => change.mutate(draft)}
      onClose={onClose}
    />
  );
}

function RotateSecret({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const rotate = useMutation({
    mutationFn: () => {
      const params = { path: { id: endpoint.id } };
      return answered(api.POST("/api/dashboard/webhooks/{id}/rotate-secret", { params }));
    },
  });
  if (rotate.data !== undefined) {
    return (
      <ShownSecret
        title="The new secret"
        about="Requests are signed with both secrets for one day, then with this one alone."
        secret={rotate.data.secret}
        onClose={onClose}
      />
    );
  }
  return (
    <ConfirmDialog
      title="Make a new secret?"
      consequence="The secret of today signs for one more day beside the new one. An older one stops at once."
      keep="Keep it"
      action="Make a new secret"
      isBusy={rotate.isPending}
      error={rotate.error}
      onKeep={onClose}
      onAct={() => rotate.mutate()}
    />
  );
}

function RemoveEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const [, navigate] = useLocation();
  const remove = useMutation({
    mutationFn: () => {
      const params = { path: { id: endpoint.id } };
      return answered(api.DELETE("/api/dashboard/webhooks/{id}", { params }));
    },
    onSuccess: async () => {
      navigate("/settings/webhooks");
      await queryClient.invalidateQueries({ queryKey: ["webhooks"], exact: true });
    },
  });
  return (
    <ConfirmDialog
      title={`Remove ${endpoint.name}?`}
      consequence="It gets no more events, and what waits for it is dropped."
      keep="Keep it"
      action="Remove"
      isBusy={remove.isPending}
      error={remove.error}
      onKeep={onClose}
      onAct={() => remove.mutate()}
    />
  );
}

/** A moment as the browser's own field for it has it, in local time. */
function localMoment(atMs: number): string {
  const localMs = atMs - new Date(atMs).getTimezoneOffset() * 60_000;
  return new Date(localMs).toISOString().slice(0, 16);
}

/** Undefined where no whole moment was entered. */
function isoMoment(local: string): string | undefined {
  const atMs = Date.parse(local);
  return Number.isNaN(atMs) ? undefined : new Date(atMs).toISOString();
}

function Replay({ id, onClose }: { id: string; onClose: () => void }) {
  const [from, setFrom] = useState(() => localMoment(nowMs() - HOUR_MS));
  const [to, setTo] = useState(() => localMoment(nowMs() + 60_000));
  const range = { from: isoMoment(from), to: isoMoment(to) };
  const replay = useMutation({
    mutationFn: (body: Sent<"replayWebhook">) =>
      answered(api.POST("/api/dashboard/webhooks/{id}/replay", { params: { path: { id } }, body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["deliveries", id] }),
  });
  const send = () => {
    if (range.from === undefined || range.to === undefined) return;
    replay.mutate({ from: range.from, to: range.to });
  };
  return (
    <FormDialog
      title="Replay events"
      action="Send again"
      isBusy={replay.isPending}
      error={replay.error}
      onSubmit={send}
      onClose={onClose}
    >
      <p>
        Sends the events of a time again, 1,000 at most, with the ids that they had. They are kept
        for 7 days.
      </p>
      <div className="grid2">
        <TextField label="From" type="datetime-local" value={from} onChange={setFrom} required />
        <TextField label="To" type="datetime-local" value={to} onChange={setTo} required />
      </div>
      {replay.data === undefined ? null : (
        <p className="note" role="status">
          {replay.data.events === 1
            ? "1 event is sent again."
            : `${replay.data.events.toLocaleString()} events are sent again.`}
        </p>
      )}
    </FormDialog>
  );
}

function TestEndpoint({ id, onSent }: { id: string; onSent: (eventId: string) => void }) {
  const test = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/dashboard/webhooks/{id}/test", { params: { path: { id } } })),
    onSuccess: ({ eventId }) => onSent(eventId),
  });
  return (
    <>
      {test.error === null ? null : <Fault error={test.error} />}
      <button
        type="button"
        className="button main"
        disabled={test.isPending}
        onClick={() => test.mutate()}
      >
        Test
      </button>
    </>
  );
}

interface DeliveriesProps {
  readonly id: string;
  /** The event of the last test; undefined before one. */
  readonly testId: string | undefined;
  readonly isActive: boolean;
}

function Deliveries({ id, testId, isActive }: DeliveriesProps) {
  const [search] = useSearchParams();
  const [isAwaited, setAwaited] = useState(false);
  const page = { skip: skipOf(search, DELIVERIES_PER_PAGE), limit: DELIVERIES_PER_PAGE };
  const deliveries = useDeliveries(id, page, isAwaited);
  const tested = deliveries.data?.items.find(({ eventId }) => eventId === testId);
  const isTestAwaited = testId !== undefined && tested === undefined;
  useEffect(() => setAwaited(isTestAwaited), [isTestAwaited]);
  return (
    <section className="stack tight">
      <h2>Deliveries</h2>
      {testId === undefined ? null : <TestOutcome delivery={tested} />}
      <Loaded query={deliveries}>
        {(shown) =>
          shown.items.length === 0 && shown.skip === 0 ? (
            <Empty title="Nothing was sent yet">
              <p>Each try is kept for 7 days, with what the endpoint answered.</p>
            </Empty>
          ) : (
            <>
              <DeliveryTable deliveries={shown.items} isActive={isActive} />
              <Steps
                label="More deliveries"
                address={`/settings/webhooks/${id}`}
                search={search}
                perPage={DELIVERIES_PER_PAGE}
                shown={shown}
              />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function TestOutcome({ delivery }: { delivery: Delivery | undefined }) {
  if (delivery === undefined) {
    return (
      <p className="note" role="status">
        webhook.test is on its way.
      </p>
    );
  }
  const isGood = isAcknowledged(delivery);
  return (
    <p className={isGood ? "note" : "note fault"} role="status">
      The test {isGood ? "was acknowledged" : "failed"}: {answerWords(delivery)}.
    </p>
  );
}

interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  /** A disabled endpoint is sent nothing. */
  readonly isActive: boolean;
}

function DeliveryTable({ deliveries, isActive }: DeliveryTableProps) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">Answer</th>
            <th scope="col" className="spare">
              When
            </th>
            <th scope="col">
              <span className="hidden">Send again</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {deliveries.map((delivery) => (
            <tr key={delivery.id}>
              <td>
                <strong>{delivery.type}</strong>
                <div className="soft">
                  try {delivery.attempt}, {delivery.requestBytes.toLocaleString()} bytes
                </div>
                <div className="soft id spare">{delivery.eventId}</div>
              </td>
              <td>
                <div>
                  <span className={`state ${isAcknowledged(delivery) ? "good" : "fault"}`}>
                    {answerWords(delivery)}
                  </span>
                </div>
                <AnswerBody text={delivery.answer} />
              </td>
              <td className="spare">
                <Moment at={delivery.at} />
              </td>
              <td className="number">{isActive ? <Resend delivery={delivery} /> : null}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The first bytes of it, folded. */
function AnswerBody({ text }: { text: string }): ReactNode {
  if (text === "") return null;
  return (
    <details>
      <summary>Answer</summary>
      <pre className="wrapped" tabIndex={0}>
        {text}
      </pre>
    </details>
  );
}

function Resend({ delivery: { id, type } }: { delivery: Delivery }) {
  const resend = useMutation({
    mutationFn: () => {
      const params = { path: { id } };
      return answered(api.POST("/api/dashboard/webhook-deliveries/{id}/resend", { params }));
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["deliveries"] }),
  });
  return (
    <>
      <button
        type="button"
        className="button"
        aria-label={`Resend ${type}`}
        disabled={resend.isPending}
        onClick={() => resend.mutate()}
      >
        {resend.isSuccess ? "Sent" : "Resend"}
      </button>
      {resend.error === null ? null : <Fault error={resend.error} />}
    </>
  );
}
