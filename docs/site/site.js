// Adds what the theme furo omits for users of keyboards and screen readers. tests/browser/test_site.py checks the
// result with axe.
for (const scrolled of document.querySelectorAll("pre, .table-wrapper")) scrolled.tabIndex = 0;
document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.ariaLevel = "2";
if (!document.querySelector("h1")) {
  const heading = Object.assign(document.createElement("h1"), { textContent: "Search" });
  document.querySelector("[role=main]")?.prepend(heading);
}
