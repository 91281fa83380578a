// Loaded before the style sheets, so that a dark page does not flash. Not a module, because modules load later.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("hosting-emulator.theme");
  } catch {
    // Without storage, the system's preference applies.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
