import {
  Activity,
  Bot,
  ChartColumn,
  House,
  Mic,
  Phone,
  PhoneCall,
  Plug,
  Server,
  Settings,
} from "lucide-react";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useMe } from "../model/queries.js";
import { AccountMenu } from "./account-menu.js";
import { Keyboard } from "./keyboard.js";
import { NoticeBars } from "./notice-bars.js";

const PLACES = [
  { path: "/", label: "Home", Icon: House },
  { path: "/agents", label: "Agents", Icon: Bot },
  { path: "/calls", label: "Calls", Icon: Activity },
  { path: "/numbers", label: "Numbers", Icon: Phone },
  { path: "/providers", label: "Providers", Icon: Plug },
  { path: "/usage", label: "Usage", Icon: ChartColumn },
  { path: "/settings", label: "Settings", Icon: Settings },
] as const;
/** For operators alone. */
const PLATFORM = { path: "/platform", label: "Platform", Icon: Server } as const;

/** Rail, top bar, and the page between them. */
export function Shell({ children }: { children: ReactNode }) {
  const me = useMe();
  return (
    <div className="shell">
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <Rail />
      <div className="stage">
        <NoticeBars />
        <header className="topbar">
          <span className="place">{me.data?.organization.name}</span>
          <Link className="button main" href="/talk">
            <Mic size={16} aria-hidden /> Talk
          </Link>
          <AccountMenu />
        </header>
        <main className="page" id="page" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Keyboard />
    </div>
  );
}

function Rail() {
  const [location] = useLocation();
  const me = useMe();
  const places = me.data?.isOperator === true ? [...PLACES, PLATFORM] : PLACES;
  return (
    <nav className="rail" aria-label="Pages">
      <Link className="brand" href="/">
        <PhoneCall size={20} aria-hidden /> Parley
      </Link>
      <ul>
        {places.map(({ path, label, Icon }) => {
          const isHere = path === "/" ? location === path : location.startsWith(path);
          return (
            <li key={path}>
              <Link href={path} aria-current={isHere ? "page" : undefined}>
                <Icon size={18} aria-hidden /> {label}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
