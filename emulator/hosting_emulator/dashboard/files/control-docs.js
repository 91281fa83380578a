// The control API's calls, to be tried.

import { drawCalls } from "./swagger-mend.js";

drawCalls({ url: "/_emulator/openapi.json" });
