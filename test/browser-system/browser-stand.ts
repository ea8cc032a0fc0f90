import { after, afterEach } from "node:test";
import { ViewerBrowser } from "../../bench/livestream/viewer-browser.js";
import { TestServer, type TestServerOptions } from "../system/test-server.js";

export interface BrowserStandOptions extends TestServerOptions {
  /** Chromium's command-line flags. */
  readonly flags?: readonly string[];
}

/** Starts a server that lives as long as the tests of the calling file. */
export async function serverOfFile(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await TestServer.start(options);
  after(() => server.close());
  return server;
}

/**
 * Like `serverOfFile`, with a browser, which ends first. A page is closed after its test: it would go on rendering and
 * sending requests.
 */
export async function standOfFile({ flags, ...options }: BrowserStandOptions = {}): Promise<{
  readonly server: TestServer;
  readonly browser: ViewerBrowser;
}> {
  const server = await TestServer.start(options);
  const browser = await ViewerBrowser.start(flags);
  afterEach(() => browser.closePages());
  after(async () => {
    await browser.stop();
    await server.close();
  });
  return { server, browser };
}
