export interface VNode {
  type: unknown;
  props: Record<string, any>;
  key: any;
}
export function h(type: any, props: any, ...children: any[]): VNode;
export function render(what: any, where: Element): void;
export function createContext<T>(value: T): any;
export function Fragment(props: { children?: any }): any;
