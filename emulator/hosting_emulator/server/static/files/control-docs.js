// The control API's calls, to be tried.

import { oneMain } from "./swagger-mend.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();

SwaggerUIBundle({
  dom_id: "#swagger",
  plugins: [oneMain],
  url: "/_emulator/openapi.json",
  validatorUrl: null,
  deepLinking: false,
  tryItOutEnabled: true,
  displayRequestDuration: true,
});
