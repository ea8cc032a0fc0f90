import { after, afterEach } from "node:test";
import { ViewerBrowser } from "../../bench/livestream/viewer-browser.js";
import { TestServer, type TestServerOptions } from "../system/test-server.js";

export interface BrowserStandOptions extends TestServerOptions {
  /** Chromium is started with these. */
  readonly flags?: readonly string[];
}

/** A server that lives as long as the tests of the file which asks for it. */
export async function serverOfFile(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await TestServer.start(options);
  after(() => server.close());
  return server;
}

/** As `serverOfFile`, and a browser beside it, which ends first. A page lives as long as its test: it goes on drawing and asking. */
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
