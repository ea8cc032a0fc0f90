import { CircleUser } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useMe } from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { signOut } from "../model/session.js";
import { areSingleKeysOn, switchSingleKeys } from "../model/single-keys.js";
import { applyTheme, currentTheme, THEMES } from "../model/theme.js";
import { ChipChoice } from "./forms/chip-choice.js";
import { CheckField } from "./forms/field.js";

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
