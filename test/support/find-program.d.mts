export declare const SERVERS: Readonly<Record<string, { program: string; package: string }>>;

export declare function findProgram(...programs: readonly string[]): string | undefined;

export declare function missingServers(): string[];
