export function useState<T>(start: T | (() => T)): [T, (next: T | ((old: T) => T)) => void];
export function useRef<T>(start: T): { current: T };
export function useEffect(work: () => void | (() => void), on?: any[]): void;
export function useLayoutEffect(work: () => void | (() => void), on?: any[]): void;
export function useMemo<T>(work: () => T, on?: any[]): T;
export function useCallback<T extends (...given: any[]) => any>(work: T, on?: any[]): T;
export function useContext(context: any): any;
export function useId(): string;
