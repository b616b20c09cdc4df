/** How the program writes what it has to say. */
export type LogFormat = 'text' | 'json';

/** How a program tells its operator what happens. */
export interface Log {
  info: (line: string) => void;
  error: (line: string) => void;
}

/** How a word of the program answers. */
export interface Voice {
  /** Writes a line of the result. */
  print: (line: string) => void;
  /** Writes a line for people, which is no part of the result. */
  say: (line: string) => void;
}

/** Writes a line for each message: what needs the operator to standard error, all else to standard output. */
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
