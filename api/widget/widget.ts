import { AgentElement } from "./agent-element.js";

/** Where this very script came from is where the agent lives. */
const script = document.currentScript;
if (script instanceof HTMLScriptElement) AgentElement.home = homeOf(script.src);

/** Below a sub-path the script is there, too. */
function homeOf(src: string): string {
  const { origin, pathname } = new URL(src);
  return `${origin}${pathname.endsWith("/widget.js") ? pathname.slice(0, -"/widget.js".length) : ""}`;
}

if (customElements.get("parley-agent") === undefined) {
  customElements.define("parley-agent", AgentElement);
}
