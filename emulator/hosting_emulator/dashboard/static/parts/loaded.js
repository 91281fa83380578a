// What a panel loads from the emulator, shown: while it comes, when it fails, when it is empty, and what it came to.

import { html } from "../lib.js";
import { useResource } from "../resource.js";
import { Shown } from "./panel.js";

/**
 * `from`, `on` and `deps` are those of `useResource`, `empty` is that of `Shown`.
 * @param {{from: () => Promise<any>, on?: import("../events.js").Kind[], deps?: any[], empty?: (data: any) => any,
 *   children: (data: any, reload: () => Promise<void>) => any}} props
 */
export function Loaded({ from, on, deps, empty, children }) {
  const of = useResource(from, { on, deps });
  return html`<${Shown} of=${of} empty=${empty}>${(data) => children(data, of.reload)}<//>`;
}
