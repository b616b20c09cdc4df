/** A port nobody listens on now. */
export declare function freePort(): Promise<number>;
