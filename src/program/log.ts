/** The form of the lines of the log. */
export type LogFormat = 'text' | 'json';

/** The log of the program, for its operator. */
export interface Log {
  info: (line: string) => void;
  error: (line: string) => void;
}

/** The output of a command. */
export interface Voice {
  /** Writes a line of the result. */
  print: (line: string) => void;
  /** Writes a line for people, which is no part of the result. */
  say: (line: string) => void;
}

/** Writes a line for each message: errors to standard error, all others to standard output. */
export const createLog = (format: LogFormat): Log => {
  const lineOf = (level: string, message: string): string => {
    const time = new Date().toISOString();
    return format === 'json' ? JSON.stringify({ time, level, message }) : `${time} ${message}`;
  };
  return {
    info: (message) => console.log(lineOf('info', message)),
    error: (message) => console.error(lineOf('error', message)),
  };
};
