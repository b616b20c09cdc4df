export interface PostgresServer {
  url: string;
  port: number;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and with what it kept. */
  restart(): Promise<void>;
  /** Has it stand still, as a machine that is out of memory does, until it goes on. */
  freeze(): void;
  goOn(): void;
  stop(): Promise<void>;
}

export declare function startPostgres(
  settings?: Readonly<Record<string, string | number>>,
): Promise<PostgresServer>;
