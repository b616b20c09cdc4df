export declare const BUNDLED: readonly string[];
