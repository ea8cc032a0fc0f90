import { useMutation } from "@tanstack/react-query";
import {
  Activity,
  BookOpen,
  Bot,
  ChartColumn,
  CircleUser,
  House,
  ListChecks,
  type LucideIcon,
  Mic,
  Phone,
  PhoneCall,
  Plug,
  Server,
  Settings,
} from "lucide-react";
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Link, useLocation } from "wouter";
import { signIn } from "../model/accounts.js";
import { connection, onConnection } from "../model/connection.js";
import { queryClient, useMe, useProviders, useReady } from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { isSessionOver, onSession, signInWith, signOut } from "../model/session.js";
import { areSingleKeysOn, switchSingleKeys } from "../model/single-keys.js";
import { applyTheme, currentTheme, THEMES } from "../model/theme.js";
import { KIND_NAMES } from "../words/provider-words.js";
import { ChipChoice } from "./forms/chip-choice.js";
import { Dialog } from "./forms/dialog.js";
import { CheckField, TextField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";

const THEME_WORDS = { system: "As the system", light: "Light", dark: "Dark" } as const;

export function AccountMenu() {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const onPointer = ({ target }: PointerEvent) => {
      if (target instanceof Node && menu.current?.contains(target) !== true) setOpen(false);
    };
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [isOpen]);
  return (
    <div
      className="menu"
      ref={menu}
      onKeyDown={({ key }) => {
        if (key !== "Escape") return;
        setOpen(false);
        button.current?.focus();
      }}
    >
      <button
        ref={button}
        type="button"
        className="button plain square"
        aria-label="Account"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <CircleUser size={20} aria-hidden />
      </button>
      {isOpen ? <MenuItems /> : null}
    </div>
  );
}

function MenuItems() {
  const me = useMe();
  const [theme, setTheme] = useState(currentTheme);
  const [hasKeys, setHasKeys] = useState(areSingleKeysOn);
  return (
    <div>
      <p className="about">
        <strong>{me.data?.user.name}</strong>
        <br />
        <span className="soft">
          {me.data?.user.email}, {me.data?.user.role}
        </span>
      </p>
      <ChipChoice
        label="Colours"
        choices={THEMES}
        chosen={theme}
        wordsOf={(each) => THEME_WORDS[each]}
        onChoose={(each) => {
          applyTheme(each);
          setTheme(each);
        }}
      />
      <CheckField
        label="Single keys"
        hint="/ j k t and ? do something where nothing is typed."
        value={hasKeys}
        onChange={(isOn) => {
          switchSingleKeys(isOn);
          setHasKeys(isOn);
        }}
      />
      <a className="button plain" href={`${SERVER_URL}/api/docs`}>
        API documentation
      </a>
      <button type="button" className="button plain" onClick={signOut}>
        Sign out
      </button>
    </div>
  );
}

const KEYS = [
  ["/", "search or filter"],
  ["j", "next row"],
  ["k", "row before"],
  ["t", "talk"],
  ["?", "this help"],
] as const;

/** Single keys, wherever nothing is being typed, unless the person has switched them off. */
export function Keyboard() {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [, navigate] = useLocation();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (!areSingleKeysOn()) return;
      if (event.key === "?") setHelpOpen(true);
      else if (event.key === "t") navigate("/talk");
      else if (event.key === "j") focusRow(1);
      else if (event.key === "k") focusRow(-1);
      else if (event.key === "/") document.querySelector<HTMLElement>("[data-search]")?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate]);
  if (!isHelpOpen) return null;
  return (
    <Dialog title="Keys" onClose={() => setHelpOpen(false)}>
      <ul className="lines">
        {KEYS.map(([key, does]) => (
          <li key={key}>
            <span>{does}</span>
            <kbd>{key}</kbd>
          </li>
        ))}
      </ul>
      <p className="soft">They are switched off in the menu of your account.</p>
      <div className="row end">
        <button type="button" className="button" onClick={() => setHelpOpen(false)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest("input, select, textarea, dialog, [contenteditable]") !== null;
}

/** Rows are links or buttons that say so; the focus is the cursor. */
function focusRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  rows[next]?.focus();
}

/** Above every page, what keeps it from being true: no connection, or a session that is over. */
export function NoticeBars() {
  const link = useSyncExternalStore(onConnection, connection);
  const isOver = useSyncExternalStore(onSession, isSessionOver);
  if (link === "offline") {
    return (
      <p className="notice" role="status">
        You are offline. What you typed is kept.
      </p>
    );
  }
  if (link === "unanswered") return <Unanswered />;
  return isOver ? <SessionOver /> : null;
}

/** Said on every page, as a test mode is: nothing that a simulated vendor answers is worth a real caller's time. */
function SandboxBar() {
  const providers = useProviders();
  const kinds = new Set(
    providers.data?.filter(({ simulated, active }) => simulated && active).map(kindOf),
  );
  if (kinds.size === 0) return null;
  return (
    <p className="notice sandbox">
      <strong>Sandbox</strong> {[...kinds].join(", ")} {kinds.size === 1 ? "is" : "are"} simulated.{" "}
      <Link href="/providers">Add a vendor’s key</Link>
    </p>
  );
}

function kindOf({ category }: { readonly category: keyof typeof KIND_NAMES }): string {
  return KIND_NAMES[category];
}

/** Asks until there is an answer: a page that asks nothing by itself would not see the server come back. */
function Unanswered() {
  useReady();
  return (
    <p className="notice" role="status">
      The server does not respond. This page may be out of date; what you typed is kept.
    </p>
  );
}

function SessionOver() {
  const [isSigningIn, setSigningIn] = useState(false);
  return (
    <>
      <div className="notice row">
        <span role="alert">Your session has expired. What you typed is kept.</span>
        <button type="button" className="button" onClick={() => setSigningIn(true)}>
          Sign in again
        </button>
      </div>
      {isSigningIn ? <SignInAgain onClose={() => setSigningIn(false)} /> : null}
    </>
  );
}

/** The same user continues on the page. Another user has to sign out first. */
function SignInAgain({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const [password, setPassword] = useState("");
  const email = me.data?.user.email ?? "";
  const enter = useMutation({
    mutationFn: () => signIn({ email, password }),
    onSuccess: ({ token }) => {
      signInWith(token);
      void queryClient.invalidateQueries();
    },
  });
  return (
    <FormDialog
      title="Sign in again"
      action="Sign in"
      isBusy={enter.isPending}
      error={enter.error}
      onSubmit={() => enter.mutate()}
      onClose={onClose}
    >
      <p className="name">
        <bdi>{me.data?.user.name}</bdi>, {email}
      </p>
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        required
      />
      <div>
        <button type="button" className="button plain" onClick={signOut}>
          Use another account
        </button>
      </div>
    </FormDialog>
  );
}

/** `isWide`: where there is room; elsewhere another page leads to it. */
interface Place {
  readonly path: string;
  readonly label: string;
  readonly Icon: LucideIcon;
  readonly isWide?: true;
}

const PLACES: readonly Place[] = [
  { path: "/", label: "Home", Icon: House },
  { path: "/agents", label: "Agents", Icon: Bot },
  { path: "/calls", label: "Calls", Icon: Activity },
  { path: "/call-lists", label: "Call lists", Icon: ListChecks, isWide: true },
  { path: "/knowledge", label: "Knowledge", Icon: BookOpen },
  { path: "/numbers", label: "Numbers", Icon: Phone },
  { path: "/providers", label: "Providers", Icon: Plug },
  { path: "/usage", label: "Usage", Icon: ChartColumn },
  { path: "/settings", label: "Settings", Icon: Settings },
];
/** For operators alone. */
const PLATFORM: Place = { path: "/platform", label: "Platform", Icon: Server };

/** Rail, top bar, and the page between them. */
export function Shell({ children }: { children: ReactNode }) {
  const me = useMe();
  const [location] = useLocation();
  // On the page of an agent one talks to this agent.
  const [, agentId] = /^\/agents\/([^/]+)$/.exec(location) ?? [];
  return (
    <div className="shell">
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <Rail />
      <div className="stage">
        <SandboxBar />
        <NoticeBars />
        <header className="topbar">
          <span className="place">{me.data?.organization.name}</span>
          <Link className="button main" href={agentId === undefined ? "/talk" : `/talk/${agentId}`}>
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
        {places.map(({ path, label, Icon, isWide }) => {
          const isHere = path === "/" ? location === path : location.startsWith(path);
          return (
            <li key={path} className={isWide === true ? "wide" : undefined}>
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
