import { Link } from "wouter";
import { SERVER_URL } from "../model/server-address.js";
import { CopyButton } from "./copy-button.js";

/** What brings an agent to a web page, and where the page gets its token from. */
export function WebPageSnippet({ agentId }: { agentId: string }) {
  const widget = [
    `<script src="${SERVER_URL}/widget.js" defer></script>`,
    `<parley-agent agent="${agentId}" token-url="/my/token"></parley-agent>`,
  ].join("\n");
  const token = [
    `curl -s ${SERVER_URL}/api/dashboard/client-tokens \\`,
    `  -H "x-api-key: vk_…" -H "content-type: application/json" \\`,
    `  -d '{"agentId": "${agentId}", "ttlSec": 60}'`,
  ].join("\n");
  return (
    <>
      <p>These two lines add a button to the page. Its visitors talk to the agent with it:</p>
      <Lines text={widget} what="the two lines" />
      <p>
        The page asks for a token with POST at an address of your own site, here{" "}
        <code>/my/token</code>. There your server asks for one with an{" "}
        <Link href="/settings/keys">API key</Link> of the scope “voice”, and answers with the text
        of its <code>token</code> alone. The key never goes into a page.
      </p>
      <Lines text={token} what="the request" />
      <p className="soft">
        At sites at which the agent is public the page needs no token: leave <code>token-url</code>{" "}
        out.
      </p>
    </>
  );
}

function Lines({ text, what }: { text: string; what: string }) {
  return (
    <div className="stack tight">
      <pre className="wrapped" tabIndex={0}>
        {text}
      </pre>
      <div>
        <CopyButton text={text} what={what} />
      </div>
    </div>
  );
}
