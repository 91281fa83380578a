// Data from the emulator, which is reloaded when an event shows that it may have changed.

import { useEffect, useRef, useState } from "./lib.js";
import { calmly, listen } from "./store.js";

/**
 * @template T
 * @typedef {{data: T | undefined, error: any, reload: () => Promise<void>}} Resource
 */

/**
 * Load data, and reload it after events of the given kinds. The old data stays until new data arrives.
 * @template T
 * @param {() => Promise<T>} load
 * @param {{on?: import("./events.js").Kind[], deps?: any[]}} [how]
 * @returns {Resource<T>}
 */
export function useResource(load, { on = ["commit", "world"], deps = [] } = {}) {
  const [state, setState] = useState(/** @type {{data: T | undefined, error: any}} */ ({ data: undefined, error: null }));
  const turn = useRef(0);
  const latest = useRef(load);
  latest.current = load;

  const reload = async () => {
    const mine = (turn.current += 1);
    try {
      const data = await latest.current();
      if (mine === turn.current) setState({ data, error: null });
    } catch (error) {
      const gone = /** @type {any} */ (error).status === 404;
      if (mine === turn.current) setState((old) => ({ data: gone ? undefined : old.data, error }));
    }
  };

  useEffect(() => {
    reload();
    return () => {
      turn.current += 1; // Ignore a response that has not arrived yet.
    };
  }, deps);

  useEffect(() => {
    const soon = calmly(reload);
    const stops = [...new Set([...on, /** @type {const} */ ("gap")])].map((kind) => listen(kind, soon));
    return () => stops.forEach((stop) => stop());
  }, []);

  return { ...state, reload };
}
