import { EVENT_TYPES } from "../../storage/webhooks/event-record.js";

/** Makes an endpoint that wants every event; rejects where the server refuses it. */
export async function makeEndpoint(
  server: { readonly url: string; readonly apiKey: string },
  url: string,
): Promise<void> {
  const eventTypes = EVENT_TYPES.filter((type) => type !== "webhook.test");
  const response = await fetch(`${server.url}/api/dashboard/webhooks`, {
    method: "POST",
    headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ name: "measured", url, eventTypes }),
  });
  if (response.status !== 201)
    throw new Error(`the endpoint was refused: ${await response.text()}`);
}
