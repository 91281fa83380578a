// Shows data that a panel loads from the emulator, with the states loading, failed and empty.

import { html } from "../lib.js";
import { useResource } from "../resource.js";
import { Shown } from "./panel.js";

/**
 * `from`, `on` and `deps` are the arguments of `useResource`, and `empty` is a prop of `Shown`.
 * @param {{from: () => Promise<any>, on?: import("../events.js").Kind[], deps?: any[], empty?: (data: any) => any,
 *   children: (data: any, reload: () => Promise<void>) => any}} props
 */
export function Loaded({ from, on, deps, empty, children }) {
  const of = useResource(from, { on, deps });
  return html`<${Shown} of=${of} empty=${empty}>${(data) => children(data, of.reload)}<//>`;
}
