export declare function findChromium(): string;
export declare function findFirefox(): string | undefined;
