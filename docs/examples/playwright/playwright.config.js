// Starts the emulator and your app before the browser tests. Replace `npm start` with the command that starts your app.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  workers: 1,
  use: { baseURL: "http://127.0.0.1:3000" },
  webServer: [
    {
      command: "hosting-emulator start --ephemeral",
      url: "http://127.0.0.1:4620/_emulator/health",
    },
    {
      command: "npm start",
      env: { HOSTING_BASE_URL: "http://127.0.0.1:4620" },
      url: "http://127.0.0.1:3000",
    },
  ],
});
