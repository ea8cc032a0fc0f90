import { PlatformNodes } from "../parts/platform-nodes.js";
import { PlatformOrganizations } from "../parts/platform-organizations.js";
import { TabbedPage } from "../parts/tabbed-page.js";

const TABS = [
  { id: "organizations", title: "Organizations", Content: PlatformOrganizations },
  { id: "servers", title: "Servers", Content: PlatformNodes },
] as const;

const ABOUT = "Every organization and server of this installation.";

/** For operators: what is everybody's on this installation. */
export function PlatformPage({ tab }: { tab: string }) {
  return <TabbedPage title="Platform" about={ABOUT} address="/platform" tabs={TABS} tab={tab} />;
}
