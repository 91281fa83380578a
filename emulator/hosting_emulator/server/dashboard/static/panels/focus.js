// Where the keyboard's focus goes when what it was on is gone.

/** To the panel's heading. */
export const toTitle = () => document.getElementById("panel-title")?.focus();

/**
 * Remove a row by a button in it; focus goes to the next row's buttons, or to the panel's heading.
 * @param {any} event @param {() => Promise<any>} work
 */
export async function removingRow(event, work) {
  const row = event.currentTarget.closest("tr");
  const next = row?.nextElementSibling ?? row?.previousElementSibling;
  await work();
  if (row?.isConnected) return;
  const button = next?.isConnected ? next.querySelector("button") : null;
  if (button) button.focus();
  else toTitle();
}
