// Sets the color theme. It is loaded before the style sheets, so that a dark page does not flash. It is not a module,
// because modules are executed later.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("hosting-emulator.theme");
  } catch {
    // If storage is not available, the system's preference applies.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
