export interface ClickhouseServer {
  /** With the user and the password. */
  url: string;
  port: number;
  /** Runs a statement, and returns the text of the answer. */
  query(statement: string): Promise<string>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and with what it kept. */
  restart(): Promise<void>;
  /** Has it do nothing: connections stay, and what is sent to it waits. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export declare function startClickhouse(): Promise<ClickhouseServer>;
