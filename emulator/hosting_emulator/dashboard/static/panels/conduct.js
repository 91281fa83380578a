// Conduct: the rules that the client has broken, most severe first.
import { html } from "../lib.js";
import { inWorld } from "../api.js";
import { go, link } from "../store.js";
import { Badge, Button, Facts, Loaded, Moment, Panel, Section } from "../parts.js";
import { counted } from "../words.js";

/** The severities, most severe first. */
const TONES = /** @type {Record<string, "bad"|"warn"|"calm">} */ ({ error: "bad", warning: "warn", note: "calm" });
/** The maximum number of findings shown for a rule, and of links in a finding. More would only repeat the advice. */
const MOST = 20;
const MOST_LINKS = 8;

export default function Conduct({ query }) {
  const final = query.final === "true";
  const done = html`<${Button} pressed=${final} onClick=${() => go("conduct", "", final ? {} : { final: "true" }, { replace: true })}>The client has finished<//>`;
  return html`<${Panel} title="Conduct" actions=${done}
      lead="Rules of the contract and of HTTP that the client has broken. A client that breaks them may fail against the real service.">
    <${Loaded} from=${() => inWorld.get(`/conduct?final=${final}`)} on=${["request", "world"]} deps=${[final]}
        empty=${({ findings, judged, remarks }) => !findings.length && `No findings in ${counted(judged, "request")}. ${remarks.join(" ")}`}>
      ${(report) => html`<${Findings} of=${report} />`}
    <//>
  <//>`;
}

function Findings({ of }) {
  /** @type {string[]} */
  const rules = [...new Set(Object.keys(TONES).flatMap((severity) =>
    of.findings.filter((finding) => finding.severity === severity).map((finding) => finding.rule)))];
  return html`<div class="stack">
    <p>${counted(of.findings.length, "finding")} in ${counted(of.judged, "request")}. <span class="quiet">${of.remarks.join(" ")}</span></p>
    ${rules.map((rule) => html`<${Rule} key=${rule} findings=${of.findings.filter((finding) => finding.rule === rule)} count=${of.counts[rule]} />`)}
  </div>`;
}

function Rule({ findings, count }) {
  const [first] = findings;
  const left = Math.max(count, findings.length) - Math.min(findings.length, MOST);
  const quotes = new Map(findings.slice(0, MOST).map((finding) => [`${finding.because}${finding.place}`, finding]));
  return html`<${Section} kind="wide" title=${first.title}>
    <p class="quiet small"><code>${first.rule}</code></p>
    <ul class="stack findings">
      ${findings.slice(0, MOST).map((finding) => html`<li key=${finding.requests.join()}><${Finding} of=${finding} /></li>`)}
    </ul>
    ${left > 0 && html`<p class="quiet">And ${left} more.</p>`}
    <${Facts} of=${[
      ["Why", html`${first.matters}${[...quotes.values()].map((finding) => html` <q>${finding.because}</q> <span class="quiet">(${finding.place})</span>`)}`],
      ["Instead", first.instead],
    ]} />
  <//>`;
}

function Finding({ of }) {
  const more = of.requests.length - MOST_LINKS + of.more_requests;
  return html`<p><${Badge} tone=${TONES[of.severity]}>${of.severity}<//> ${of.message}</p>
    <p class="row small">
      ${of.requests.slice(0, MOST_LINKS).map((/** @type {number} */ n) => html`<a key=${n} href=${link("requests", String(n))}>Request ${n}</a>`)}
      ${more > 0 && html`<span class="quiet">and ${more} more</span>`}
      <span class="quiet"><${Moment} at=${of.at} /></span>
    </p>`;
}
