// Adapts Swagger UI to our pages. It follows the color scheme of the system. Whenever Swagger UI renders, attributes that it
// omits are added for users of keyboards and screen readers.

const MEND = {
  "[role=region][id$=_responses]": (it) => it.setAttribute("aria-label", it.id.replaceAll("_", " ")),
  "textarea:not([aria-label])": (it) => it.setAttribute("aria-label", "Request body"),
  "select:not([aria-label], [id])": (it) => it.setAttribute("aria-label", "Choice"),
  "input:not([aria-label], [id])": (it) => it.setAttribute("aria-label", it.placeholder || "Value"),
  "pre:not([tabindex]), .highlight-code > div:not([tabindex])": (it) => (it.tabIndex = 0),
};

/** A plugin that makes Swagger UI render a `div` instead of its `main`, because the page already has a `main`. */
const oneMain = ({ React }) => {
  const draw = React.createElement;
  React.createElement = (kind, ...rest) => draw(kind === "main" ? "div" : kind, ...rest);
  return {};
};

/** Render the calls of a document, ready to be tried out. `how` contains options for Swagger UI. */
export const drawCalls = (how) => SwaggerUIBundle({
  dom_id: "#swagger",
  plugins: [oneMain],
  validatorUrl: null,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  ...how,
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();

const root = document.getElementById("swagger");
let waits = false;

const mend = () => {
  waits = false;
  for (const [selector, work] of Object.entries(MEND)) root.querySelectorAll(selector).forEach(work);
};

new MutationObserver(() => {
  if (!waits) requestAnimationFrame(mend);
  waits = true;
}).observe(root, { childList: true, subtree: true });
