// Shows the calls of the control API in Swagger UI, where they can be tried out.

import { drawCalls } from "./swagger-mend.js";

drawCalls({ url: "/_emulator/openapi.json" });
