// Exports the shared parts of the page from one module.

export { Button, CopyButton, MenuButton } from "./parts/button.js";
export { Dialog, DialogRegion, ask, surely } from "./parts/dialog.js";
export { Form, Select } from "./parts/form.js";
export { EndEarly, Intervene } from "./parts/intervene.js";
export { Loaded } from "./parts/loaded.js";
export { Empty, Failure, Loading, Panel, Section, Shown } from "./parts/panel.js";
export { Table } from "./parts/table.js";
export { Address, StatusBadge, Badge, Code, Facts, Json, Lost, Moment, StateBadge } from "./parts/text.js";
export { ToastRegion, act, toast } from "./parts/toast.js";
