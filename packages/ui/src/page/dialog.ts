/** Says what an order will do, asks for confirmation, and shows what became of it. */
import type { OrderGiven } from "../server/server.ts";
import { byId, element } from "./dom.ts";
import { ask } from "./stream.ts";

export interface OrderQuestion {
  readonly order: OrderGiven["order"];
  readonly election: string;
  readonly title: string;
  readonly text: string;
  readonly to?: string;
  readonly asksReason?: boolean;
}

export function confirmOrder({ order, election, title, text, to, asksReason = false }: OrderQuestion): void {
  const given = { order, election, ...(to !== undefined && { to }) };
  confirmRequest({ path: "orders", body: given, title, text, verb: verbs[order], asksReason });
}

export interface Question {
  readonly path: "orders" | "faults";
  readonly body: object;
  readonly title: string;
  /** What will happen. */
  readonly text: string;
  readonly verb: string;
  readonly asksReason?: boolean;
}

export function confirmRequest({ path, body, title, text, verb, asksReason = false }: Question): void {
  const dialog = byId<HTMLDialogElement>("dialog");
  const reason = element("input", { type: "text", maxlength: "200", autocomplete: "off" });
  const outcome = element("p", { class: "outcome", role: "status" });
  const cancel = element("button", { type: "button", click: () => dialog.close() }, "Cancel");
  const confirm = element("button", { type: "button", class: "primary" }, verb);
  confirm.addEventListener("click", () => {
    confirm.disabled = true;
    outcome.textContent = "Waiting until the order has taken effect…";
    const given = { ...body, ...(reason.value !== "" && { reason: reason.value }) };
    ask<{ ok: boolean; message: string }>(path, given).then(
      ({ ok, message }) => finish(ok, message),
      (error: unknown) => finish(false, error instanceof Error ? error.message : String(error)),
    );
  });
  const finish = (ok: boolean, message: string) => {
    outcome.textContent = message;
    outcome.classList.toggle("bad", !ok);
    confirm.remove();
    cancel.textContent = "Close";
  };
  dialog.replaceChildren(
    element("h2", { id: "dialog-title" }, title),
    element("p", {}, text),
    ...(asksReason ? [element("label", {}, "Reason, for others who look at the election", reason)] : []),
    outcome,
    element("div", { class: "buttons" }, cancel, confirm),
  );
  dialog.showModal();
  if (asksReason) reason.focus();
}

const verbs: Readonly<Record<OrderGiven["order"], string>> = {
  "step-down": "Step down",
  transfer: "Transfer",
  pause: "Pause",
  resume: "Resume",
};
