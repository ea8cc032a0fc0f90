import type { ComponentType } from "react";
import { PageHead } from "./page-head.js";
import { Tabs } from "./tabs.js";

export interface Tab {
  /** The last part of its address. */
  readonly id: string;
  readonly title: string;
  readonly Content: ComponentType;
}

interface TabbedPageProps {
  readonly title: string;
  readonly about?: string;
  /** In front of the tab's own part, without a slash at the end. */
  readonly address: string;
  readonly tabs: readonly [Tab, ...Tab[]];
  /** From the address; the first where there is no such tab. */
  readonly tab: string;
}

/** A page whose parts have addresses of their own. */
export function TabbedPage({ title, about, address, tabs, tab }: TabbedPageProps) {
  const { id, Content } = tabs.find((each) => each.id === tab) ?? tabs[0];
  return (
    <>
      <PageHead title={title} about={about} />
      <Tabs label={title} tabs={tabs} currentId={id} addressOf={(each) => `${address}/${each}`} />
      <Content />
    </>
  );
}
