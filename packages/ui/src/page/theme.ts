/** Light and dark: as the system says, or as the viewer chose. */
import { byId, setText } from "./dom.ts";
import { store, stored } from "./platform.ts";

const themes = ["auto", "light", "dark"] as const;
const name = "tenure-theme";

export function startTheme(onChange: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = themes.find((theme) => theme === stored(name, "browser")) ?? "auto";
  const apply = () => {
    const theme = chosen === "auto" ? (system.matches ? "dark" : "light") : chosen;
    document.documentElement.dataset.theme = theme;
    setText(byId("theme"), `Theme: ${chosen}`);
    onChange();
  };
  const next = () => {
    chosen = themes[(themes.indexOf(chosen) + 1) % themes.length] ?? "auto";
    store(name, chosen, "browser");
    apply();
  };
  system.addEventListener("change", apply);
  byId("theme").addEventListener("click", next);
  apply();
  return next;
}
