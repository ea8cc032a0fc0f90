import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { answered, api } from "../model/api.js";
import type { Answered, Sent } from "../model/contract-paths.js";
import { queryClient, useWebhooks } from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { ShownSecret } from "../parts/forms/shown-secret.js";
import { Moment } from "../parts/moment.js";
import { Empty, Loaded } from "../parts/states.js";
import { type WebhookDraft, WebhookForm } from "../parts/webhook-form.js";
import { endpointState } from "../words/webhook-words.js";

const NEW_ENDPOINT: WebhookDraft = {
  name: "",
  url: "",
  eventTypes: ["call.ended", "call.failed"],
  includeTranscript: false,
};

/** The endpoints that get the events of the organization's calls. */
export function WebhooksTab() {
  const endpoints = useWebhooks();
  const [isMaking, setMaking] = useState(false);
  const button = (
    <button type="button" className="button main" onClick={() => setMaking(true)}>
      <Plus size={16} aria-hidden /> New endpoint
    </button>
  );
  return (
    <>
      <div className="section-head">
        <p className="soft">
          An endpoint gets the events of calls as signed HTTP requests, by{" "}
          <a href="https://www.standardwebhooks.com">Standard Webhooks</a>. See the{" "}
          <a href={`${SERVER_URL}/api/docs`}>API documentation</a>.
        </p>
        {endpoints.data?.length === 0 ? null : button}
      </div>
      <Loaded query={endpoints}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No webhook endpoint yet">
              <p>An endpoint of yours receives an event when a call starts, ends or fails.</p>
              {button}
            </Empty>
          ) : (
            <EndpointTable endpoints={all} />
          )
        }
      </Loaded>
      {isMaking ? <NewEndpoint onClose={() => setMaking(false)} /> : null}
    </>
  );
}

function NewEndpoint({ onClose }: { onClose: () => void }) {
  const make = useMutation({
    mutationFn: (body: Sent<"createWebhook">) =>
      answered(api.POST("/api/dashboard/webhooks", { body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["webhooks"] }),
  });
  if (make.data !== undefined) {
    return (
      <ShownSecret
        title="The secret of the endpoint"
        about="Your receiver verifies the signature of each request with it."
        secret={make.data.secret}
        onClose={onClose}
      />
    );
  }
  return (
    <WebhookForm
      title="New endpoint"
      action="Add the endpoint"
      initial={NEW_ENDPOINT}
      isBusy={make.isPending}
      error={make.error}
      onSubmit={(draft) => make.mutate(draft)}
      onClose={onClose}
    />
  );
}

function EndpointTable({ endpoints }: { endpoints: Answered<"listWebhooks"> }) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Endpoint</th>
            <th scope="col" className="spare">
              Events
            </th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => {
            const { tone, text } = endpointState(endpoint);
            return (
              <tr key={endpoint.id} className="linked">
                <td>
                  <Link className="whole" href={`/settings/webhooks/${endpoint.id}`} data-row>
                    <bdi className="clamped">{endpoint.name}</bdi>
                  </Link>
                  <div className="soft">{endpoint.url}</div>
                </td>
                <td className="spare soft">{endpoint.eventTypes.join(", ")}</td>
                <td className="reason">
                  <span className={`state ${tone}`}>{text}</span>
                  <div className="soft">
                    {endpoint.disabledReason}
                    {endpoint.failingSince === null || endpoint.state === "disabled" ? null : (
                      <>
                        no 2xx since <Moment at={endpoint.failingSince} />
                      </>
                    )}
                  </div>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
