// Starts everything: the store, the keys and the frame.

import { html, render } from "./lib.js";
import { startCalls } from "./calls.js";
import { Frame } from "./frame.js";
import { startKeys } from "./keys.js";
import { startRequests } from "./requests-store.js";
import { startStore } from "./store.js";

startStore();
startCalls();
startRequests();
startKeys();
render(html`<${Frame} />`, /** @type {HTMLElement} */ (document.getElementById("page")));
