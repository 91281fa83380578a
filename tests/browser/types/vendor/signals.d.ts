export interface Signal<T = any> {
  value: T;
  peek(): T;
}
export interface ReadonlySignal<T = any> {
  readonly value: T;
  peek(): T;
}
export function signal(value: null | never[]): Signal<any>;
export function signal<T>(value: T): Signal<T>;
export function computed<T>(work: () => T): ReadonlySignal<T>;
export function effect(work: () => void | (() => void)): () => void;
export function batch<T>(work: () => T): T;
export function untracked<T>(work: () => T): T;
export function useSignal<T>(value: T): Signal<T>;
export function useComputed<T>(work: () => T): ReadonlySignal<T>;
export function useSignalEffect(work: () => void | (() => void)): void;
