// The control API's calls, to be tried.

const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();

SwaggerUIBundle({
  dom_id: "#swagger",
  url: "/_emulator/openapi.json",
  validatorUrl: null,
  deepLinking: false,
  tryItOutEnabled: true,
  displayRequestDuration: true,
});
