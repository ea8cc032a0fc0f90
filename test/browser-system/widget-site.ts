import * as v from "valibot";
import type { ViewerBrowser, ViewerPage } from "../../bench/livestream/viewer-browser.js";
import type { Customer, TestServer } from "../system/test-server.js";
import { PageSite } from "./page-site.js";

const PAGE_PATH = "/shop";
const TOKEN_PATH = "/token";
/** Longer than any test. */
const TOKEN_SEC = 600;

/** `url` may have a sub-path. */
type WidgetServer = Pick<TestServer, "url">;

/** A site other than the server's, with the strictest policy that a widget on its page allows. */
export class WidgetSite {
  readonly #server: WidgetServer;
  readonly #site: PageSite;

  static async start(server: WidgetServer): Promise<WidgetSite> {
    const { host } = new URL(server.url);
    const policy = `default-src 'none'; script-src 'self' http://${host}; connect-src 'self' ws://${host}`;
    return new WidgetSite(server, await PageSite.start(server.url, {}, policy));
  }

  private constructor(server: WidgetServer, site: PageSite) {
    this.#server = server;
    this.#site = site;
  }

  get origin(): string {
    return this.#site.origin;
  }

  /** The policy's entries for a widget that gets its token from the site and makes calls with it. */
  get tokenAttributes(): string {
    return `token-url="${TOKEN_PATH}" server="${this.origin}"`;
  }

  /** The site's page, whose widget has these attributes. */
  async open(
    browser: ViewerBrowser,
    attributes: string,
    scriptBefore = "",
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ViewerPage> {
    const body = `<!doctype html><html lang="en"><title>Shop</title>
      <script src="${this.#server.url}/widget.js" defer></script><a href="#top">First</a>
      <parley-agent ${attributes}></parley-agent></html>`;
    this.#site.put(PAGE_PATH, { contentType: "text/html", body, headers });
    const viewer = await browser.prepare();
    await viewer.page.addInitScript(scriptBefore);
    await viewer.page.goto(`${this.origin}${PAGE_PATH}`);
    return viewer;
  }

  /** Creates a token of the server for calls with the agent by pages of that origin. */
  async tokenFor(
    { apiKey }: Customer,
    agentId: string,
    origin: string = this.origin,
  ): Promise<string> {
    const answer = await fetch(`${this.#server.url}/api/dashboard/client-tokens`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ agentId, ttlSec: TOKEN_SEC, origin }),
    });
    return v.parse(v.object({ token: v.string() }), await answer.json()).token;
  }

  /** The widget gets this token from now on. */
  giveOut(token: string): void {
    this.#site.put(TOKEN_PATH, { contentType: "text/plain", body: token });
  }

  leadTo(target: string): void {
    this.#site.leadTo(target);
  }

  cut(): void {
    this.#site.cut();
  }

  mend(): void {
    this.#site.mend();
  }

  close(): void {
    this.#site.close();
  }
}
