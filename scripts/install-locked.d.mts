export declare function installLocked(options: {
  source: string;
  folder: string;
  megabytes: number;
}): void;

export declare function npm(folder: string, ...args: string[]): void;
