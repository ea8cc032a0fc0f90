const KEYS_KEY = "parley.singleKeys";
const OFF = "off";

/** Whether single keys do something; kept by the browser, as the colours are. */
export function areSingleKeysOn(): boolean {
  return localStorage.getItem(KEYS_KEY) !== OFF;
}

export function switchSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEYS_KEY);
  else localStorage.setItem(KEYS_KEY, OFF);
}
