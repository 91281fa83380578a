// Buttons: one that does something, one that copies, and one that opens a menu.

import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../lib.js";
import { toast } from "./toast.js";

/**
 * All other props become attributes of the element.
 * @param {{onClick?: (event: any) => any, kind?: "primary"|"quiet"|"danger", small?: boolean, label?: string,
 *   type?: string, pressed?: boolean, busy?: boolean, closes?: boolean, children?: any} & Record<string, any>} props
 */
export function Button({ onClick, kind, small, label, type, pressed, busy, closes, children, ...rest }) {
  const [working, setWorking] = useState(false);
  const here = useRef(true);
  useEffect(() => () => void (here.current = false), []);
  const waits = working || busy;
  const press = async (event) => {
    if (waits || !onClick) return;
    setWorking(true);
    try {
      await onClick(event);
    } finally {
      if (here.current) setWorking(false);
    }
  };
  // Do not use `disabled` while the button is busy, because it would then lose the keyboard focus.
  return html`<button
    ...${rest}
    type=${type ?? "button"}
    class=${["button", kind, small && "small", waits && "busy"].filter(Boolean).join(" ")}
    aria-label=${label}
    aria-pressed=${pressed}
    aria-disabled=${waits ? "true" : undefined}
    data-closes=${closes}
    onClick=${type === "submit" ? undefined : press}
  >
    ${children}
  </button>`;
}

/** @param {{text: string | (() => Promise<string>), label?: string, small?: boolean}} props */
export function CopyButton({ text, label = "Copy", small = true }) {
  const copy = async () => {
    try {
      await put(typeof text === "function" ? await text() : text);
      toast("Copied.", "good");
    } catch (error) {
      toast(`Not copied: ${/** @type {Error} */ (error).message}`, "bad");
    }
  };
  return html`<${Button} small=${small} kind="quiet" onClick=${copy}>${label}<//>`;
}

async function put(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers offer the clipboard API only to pages from this machine or over HTTPS.
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser does not allow this page to copy");
}

/**
 * A button that opens a small menu below it. Escape, or a click outside the menu, closes it.
 * @param {{label: any, small?: boolean, kind?: "primary"|"quiet"|"danger",
 *   children: any | ((close: () => void) => any)}} props
 */
export function MenuButton({ label, small, kind, children }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const root = useRef(null);
  const close = () => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const outside = (event) => {
      if (!root.current?.contains(event.target)) setOpen(false);
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  useLayoutEffect(() => {
    const body = root.current?.querySelector(".menu-body");
    body?.classList.remove("to-left");
    const { right = 0 } = body?.getBoundingClientRect() ?? {};
    if (right > document.documentElement.clientWidth - 8) body?.classList.add("to-left");
  }, [open]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    close();
  };
  return html`<div class="menu" ref=${root} onKeyDown=${onKeyDown}>
    <${Button} small=${small} kind=${kind} aria-expanded=${open ? "true" : "false"} aria-controls=${id}
        onClick=${() => setOpen(!open)}>
      ${label}<span class="caret" aria-hidden="true"></span>
    <//>
    <div id=${id} class="menu-body" hidden=${!open}>
      ${open && (typeof children === "function" ? children(close) : children)}
    </div>
  </div>`;
}
