// The shared parts, by one name.

export { Answered, Lost } from "./parts/answered.js";
export { Button, CopyButton, MenuButton } from "./parts/button.js";
export { DialogRegion, ask } from "./parts/dialog.js";
export { Form } from "./parts/form.js";
export { Intervene } from "./parts/intervene.js";
export { Panel, Section } from "./parts/panel.js";
export { Empty, Failure, Loading, Shown } from "./parts/states.js";
export { Table } from "./parts/table.js";
export { Badge, Code, Facts, Json, Moment, StateBadge } from "./parts/text.js";
export { ToastRegion, act, toast } from "./parts/toast.js";
