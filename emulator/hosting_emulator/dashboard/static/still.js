// Rows that do not move under the pointer. New rows that arrive while the pointer is over the list are held back. Rows
// that are older than all others are added at the end immediately, because they do not move any other row.

import { useEffect, useRef, useState } from "./lib.js";

/**
 * @template T
 * @param {T[]} rows newest first @param {(row: T) => any} of returns a row's key
 * @param {boolean} [paused] hold back new rows even if the pointer is elsewhere
 * @returns {{rows: T[], fresh: number, show: () => void, hold: Record<string, any>}}
 */
export function useStill(rows, of, paused = false) {
  const [shown, setShown] = useState(rows);
  const busy = useRef({ pointer: false, focus: false });
  const latest = useRef(rows);
  latest.current = rows;

  const held = () => paused || busy.current.pointer || busy.current.focus;
  const show = () => setShown(latest.current);
  const settle = () => void (held() || show());

  useEffect(settle, [rows, paused]);

  const last = shown.length ? of(shown[shown.length - 1]) : undefined;
  const older = shown === rows ? [] : rows.slice(rows.findIndex((row) => of(row) === last) + 1 || rows.length);
  const here = new Set([...shown, ...older].map(of));
  const fresh = shown === rows ? 0 : rows.filter((row) => !here.has(of(row))).length;
  return {
    rows: older.length ? [...shown, ...older] : shown,
    fresh,
    show,
    hold: {
      onPointerEnter: () => (busy.current.pointer = true),
      onPointerLeave: () => {
        busy.current.pointer = false;
        settle();
      },
      onFocusIn: () => (busy.current.focus = true),
      onFocusOut: (event) => {
        if (event.currentTarget.contains(event.relatedTarget)) return;
        busy.current.focus = false;
        settle();
      },
    },
  };
}
