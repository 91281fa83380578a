// Loaded before the styles, so that a page that was made dark does not flash. No module on purpose.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("hosting-emulator.theme");
  } catch {
    // No storage: the system's preference it is.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
