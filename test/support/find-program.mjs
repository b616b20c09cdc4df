/** The programs that tests run, beside Node: where this machine has them, and what installs them. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Tags of tests that need a program, with its package on Debian and Ubuntu. */
export const SERVERS = {
  nginx: { program: 'nginx', package: 'nginx' },
  Postgres: { program: 'postgres', package: 'postgresql' },
  ClickHouse: { program: 'clickhouse-server', package: 'clickhouse-server' },
  OpenSSL: { program: 'openssl', package: 'openssl' },
};

/** Where Debian puts the programs of a Postgres server, in a folder for each version. */
const POSTGRES = '/usr/lib/postgresql';

const folders = () => {
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES).sort((a, b) => b - a) : [];
  return [
    ...versions.map((version) => join(POSTGRES, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/sbin', // only root has it on the path
  ];
};

/** The path of the first of these programs that is there. Each is a path, or a name to look up. */
export const findProgram = (...programs) =>
  programs
    .flatMap((program) =>
      /[/\\]/.test(program) ? [program] : folders().map((folder) => join(folder, program)),
    )
    .find((path) => existsSync(path));

/** The tags of tests that cannot run here. */
export const missingServers = () =>
  Object.keys(SERVERS).filter((name) => !findProgram(SERVERS[name].program));
