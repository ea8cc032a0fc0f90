import { AgentElement } from "./agent-element.js";

/** The agent's server is the one that this script was loaded from. */
const script = document.currentScript;
if (script instanceof HTMLScriptElement) AgentElement.home = homeOf(script.src);

/** If the server has a sub-path, the script is below it too. */
function homeOf(src: string): string {
  const { origin, pathname } = new URL(src);
  return `${origin}${pathname.endsWith("/widget.js") ? pathname.slice(0, -"/widget.js".length) : ""}`;
}

if (customElements.get("parley-agent") === undefined) {
  customElements.define("parley-agent", AgentElement);
}
