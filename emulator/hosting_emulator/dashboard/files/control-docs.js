// Shows the calls of the control API in Swagger UI, where users can try them out.

import { drawCalls } from "./swagger-mend.js";

drawCalls({ url: "/_emulator/openapi.json" });
