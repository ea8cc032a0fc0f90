export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const THEME_KEY = "parley.theme";

export function currentTheme(): Theme {
  const kept = localStorage.getItem(THEME_KEY);
  return THEMES.find((theme) => theme === kept) ?? "system";
}

export function applyTheme(theme: Theme): void {
  localStorage.setItem(THEME_KEY, theme);
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
