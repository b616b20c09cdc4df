export interface Process {
  pid: number;
  parent: number;
  command: string;
  /** What it calls itself, where the system tells. */
  name: string;
}

export declare function listProcesses(): Process[];

export declare function childrenOf(pid: number, all?: readonly Process[]): Process[];
