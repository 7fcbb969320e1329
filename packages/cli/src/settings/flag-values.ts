/** The values of a flag that completions offer, where commander does not check them because they may also come from elsewhere. */
import type { Option } from "commander";

const values = new WeakMap<Option, readonly string[]>();

/** Lets completions offer these values. Other values stay possible. */
export function offer(option: Option, offered: readonly string[]): Option {
  values.set(option, offered);
  return option;
}

export function offeredValues(option: Option): readonly string[] {
  return values.get(option) ?? option.argChoices ?? [];
}
