import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openConnections } from '../../../src/server/store/postgres/connections.js';
import { startPostgres, type PostgresServer } from '../../support/start-postgres.mjs';

const isRoot = process.getuid?.() === 0;

/** A server's certificate for `localhost`, of a private CA, beside another CA. */
const makeCertificates = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'service-tls-'));
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  for (const name of ['ca', 'other'])
    openssl(
      ...['req', '-x509', ...key, '-subj', `/CN=${name}`],
      ...['-keyout', `${name}.key`, '-out', `${name}.crt`],
    );
  openssl('req', ...key, '-subj', '/CN=localhost', '-keyout', 'server.key', '-out', 'server.csr');
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost');
  openssl(
    ...['x509', '-req', '-in', 'server.csr', '-out', 'server.crt', '-extfile', 'names'],
    ...['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'],
  );
  for (const side of ['hostssl', 'hostnossl'])
    writeFileSync(join(folder, side), `${side} all all 127.0.0.1/32 trust\n`);
  chmodSync(join(folder, 'server.key'), 0o600);
  if (isRoot) execFileSync('chown', ['-R', 'nobody', folder]);
  return folder;
};

/** How the database is reached with these words in its address. */
const reach = async (url: string): Promise<string> => {
  const database = await openConnections({ url, statementTimeout: 5_000 });
  try {
    const [row] = await database.read<{ ssl: boolean }>(
      'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    const own = await database.connect(); // what listens has to be as safe as what reads
    const { rows } = await own.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    await own.end();
    expect(rows).toEqual([row]);
    return row!.ssl ? 'TLS' : 'no TLS';
  } finally {
    await database.close();
  }
};

describe('TLS to Postgres, as libpq has it', { tags: ['Postgres', 'OpenSSL'] }, () => {
  let folder = '';
  let servers: Record<'tls' | 'plain' | 'hostssl' | 'hostnossl', PostgresServer>;
  beforeAll(async () => {
    folder = makeCertificates();
    const file = (name: string) => join(folder, name);
    const tls = { ssl: 'on', ssl_cert_file: file('server.crt'), ssl_key_file: file('server.key') };
    const [first, ...rest] = await Promise.all([
      startPostgres(tls),
      startPostgres(),
      startPostgres({ ...tls, hba_file: file('hostssl') }),
      startPostgres({ ...tls, hba_file: file('hostnossl') }),
    ]);
    servers = { tls: first, plain: rest[0]!, hostssl: rest[1]!, hostnossl: rest[2]! };
  });
  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  it.each<[keyof typeof servers, query: string, found: string | RegExp, host?: string]>([
    ['tls', '', 'TLS'],
    ['tls', 'sslmode=disable', 'no TLS'],
    ['tls', 'sslmode=allow', 'no TLS'],
    ['tls', 'sslmode=prefer', 'TLS'],
    ['tls', 'sslmode=require', 'TLS'],
    ['tls', 'sslmode=require&channel_binding=prefer', 'TLS'],
    ['tls', 'uselibpqcompat=true&sslmode=require', 'TLS'],
    ['tls', 'sslmode=no-verify', 'TLS'],
    // With a CA it is looked at, by libpq's "require" too.
    ['tls', 'sslmode=require&sslrootcert=ca.crt', 'TLS'],
    ['tls', 'sslmode=require&sslrootcert=other.crt', /certificate/],
    ['tls', 'sslmode=verify-ca', /`sslmode=verify-ca` needs `sslrootcert`/],
    ['tls', 'sslmode=verify-ca&sslrootcert=ca.crt', 'TLS'],
    ['tls', 'sslmode=verify-ca&sslrootcert=other.crt', /certificate/],
    ['tls', 'sslmode=verify-full', /certificate/],
    ['tls', 'sslmode=verify-full&sslrootcert=ca.crt', /127\.0\.0\.1 is not in the cert/],
    ['tls', 'sslmode=verify-full&sslrootcert=ca.crt', 'TLS', 'localhost'],
    ['tls', 'sslrootcert=system', /certificate/],
    ['tls', 'sslmode=prefer&sslrootcert=other.crt', 'TLS'],
    ['tls', 'sslrootcert=missing.crt&sslmode=require', /`sslrootcert`: ENOENT/],
    [
      'tls',
      'sslmode=on',
      /`sslmode` must be disable, allow, prefer, require, verify-ca or verify-full/,
    ],
    ['plain', '', 'no TLS'],
    ['plain', 'sslmode=prefer', 'no TLS'],
    ['plain', 'sslmode=require', /does not support SSL/],
    ['hostssl', 'sslmode=allow', 'TLS'],
    ['hostssl', '', 'TLS'],
    ['hostssl', 'sslmode=disable', /no encryption/],
    ['hostnossl', 'sslmode=prefer', 'no TLS'],
    ['hostnossl', 'sslmode=require', /SSL encryption/],
  ])('reaches the server %s with %s: %s', async (server, query, found, host = '127.0.0.1') => {
    const { url } = servers[server];
    const files = query.replace(/(\w+)\.crt/, (name) => encodeURIComponent(join(folder, name)));
    const given = `${url.replace('127.0.0.1', host)}?${files}`;
    if (typeof found === 'string') expect(await reach(given)).toBe(found);
    else await expect(reach(given)).rejects.toThrow(found);
  });

  it('asks for none on a socket of this machine, which has none', async () => {
    const { port } = servers.tls;
    const host = encodeURIComponent(await socketOf(servers.tls.url));
    const query = `host=${host}&port=${port}&user=postgres&sslmode=require`;
    expect(await reach(`postgres:///postgres?${query}`)).toBe('no TLS');
  });

  it('takes the mode from the environment, where the address has none', async () => {
    process.env['PGSSLMODE'] = 'disable';
    onTestFinished(() => void delete process.env['PGSSLMODE']);
    expect(await reach(servers.tls.url)).toBe('no TLS');
    expect(await reach(`${servers.tls.url}?sslmode=require`)).toBe('TLS');
  });
});

/** The folder of a server's socket. */
const socketOf = async (url: string): Promise<string> => {
  const database = await openConnections({ url, statementTimeout: 5_000 });
  const [row] = await database.read<{ unix_socket_directories: string }>(
    'SHOW unix_socket_directories',
  );
  await database.close();
  return row!.unix_socket_directories;
};
