import { AgentElement } from "./agent-element.js";

/** Where this very script came from is where the agent lives. */
const script = document.currentScript;
if (script instanceof HTMLScriptElement) AgentElement.home = new URL(script.src).origin;

if (customElements.get("parley-agent") === undefined) {
  customElements.define("parley-agent", AgentElement);
}
