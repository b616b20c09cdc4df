import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mount } from '../../src/program/mount.js';
import { readSettings } from '../../src/program/settings.js';
import { NAMES } from '../../src/program/settings-table.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { blocks, read } from '../support/docs.js';
import { tempFolder } from '../support/temp-folder.js';

// Read as text: this machine may have no Docker. `packed/program` runs the health check.
const DOCKERFILE = read('Dockerfile');
const [, FINAL = ''] = DOCKERFILE.split(/^FROM .+\n(?![^]*^FROM )/m);
const [, environment = ''] = /^ENV (.+)$/m.exec(FINAL)!;
const OF_IMAGE = Object.fromEntries(environment.split(' ').map((pair) => pair.split('=')));
const COMPOSE = read('compose.yaml');
const [DOCKER = ''] = blocks(read('docs/server.md'), 'sh').filter((code) =>
  code.includes('docker run'),
);

/** The pairs below `environment:` of a service of the compose file. */
const environmentOf = (service: string, compose: string): Record<string, string> => {
  const [, block = ''] = compose.split(new RegExp(`^  ${service}:$`, 'm'));
  const [own = ''] = block.split(/^ {0,2}\w+:$/m);
  return Object.fromEntries(
    [...own.matchAll(/^ {6}([A-Z_]+): '?(.*?)'?$/gm)].map(([, name, value]) => [name!, value!]),
  );
};

describe('the image', () => {
  it('has one version of Node, which the package takes', () => {
    const versions = [...DOCKERFILE.matchAll(/^FROM node:(\d+)-alpine/gm)].map(([, one]) => one);
    expect(versions).toEqual(['24', '24']);
  });

  it('names settings that there are, and one port and one folder everywhere', () => {
    expect(Object.keys(OF_IMAGE).filter((name) => !NAMES.includes(name as never))).toEqual([]);
    const { port, host, store } = readSettings(OF_IMAGE);
    expect(host).toBe('0.0.0.0');
    expect(FINAL).toMatch(new RegExp(`^EXPOSE ${port}$`, 'm'));
    expect(FINAL).toMatch(new RegExp(`^VOLUME ${store.folder}$`, 'm'));
    expect(FINAL).toContain(`chown node ${store.folder}\n`);
    for (const text of [COMPOSE, DOCKER]) {
      expect(text).toContain(`127.0.0.1:${port}:${port}`);
      expect(text).toMatch(new RegExp(`data:${store.folder}\\s`));
      expect(text).toContain(`http://localhost:${port}`);
    }
    expect(DOCKER).toContain(`cat ${store.folder}/read-token`);
  });

  const mountWith = async (more: Record<string, string>) => {
    const folder = tempFolder();
    const mounted = await mount(readSettings({ ...OF_IMAGE, ...more, DATA_FOLDER: folder }), {
      log: { info: () => {}, error: () => {} },
      files: pathToFileURL(`${folder}/`),
      clientAddress: () => '127.0.0.1',
      store: createLibsqlStore({ path: join(folder, 'rows.db') }),
    });
    onTestFinished(mounted.close);
    return mounted;
  };

  it.each<[command: string, environment: Record<string, string>]>([
    ['docker run', Object.fromEntries([/-e (\w+)=(\S+)/.exec(DOCKER)!.slice(1)])],
    ['docker compose up', environmentOf('program', COMPOSE)],
  ])('takes a page on this machine after `%s`, and prints its tag', async (_, settings) => {
    const { tag, answer } = await mountWith(settings);
    expect(tag()).toContain(`src="${settings.PUBLIC_URL}/outbox-auto.js"`);
    expect(tag()).toContain('data-auto="pageviews local"');
    const body = { project: 'shop', channel: 'web', event: 'Tried' };
    const answered = await answer(
      new Request(`${settings.PUBLIC_URL}/a/v1/batch`, {
        method: 'POST',
        headers: { origin: 'http://localhost:3000', 'content-type': 'application/json' },
        body: JSON.stringify({
          sent_at: new Date().toISOString(),
          records: [{ id: 'first', type: 'event', body }],
        }),
      }),
    );
    expect(await answered.json()).toMatchObject({ results: [{ outcome: 'delivered' }] });
    const rows = await answer(new Request(`${settings.PUBLIC_URL}/rows`));
    expect(rows.status).toBe(401);
  });

  it('answers its health check', async () => {
    const [, path] = /PORT \+ '(\/\w+)'/.exec(FINAL)!;
    const { answer } = await mountWith({});
    expect((await answer(new Request(`http://localhost${path}`))).status).toBe(200);
  });

  it('fits into the compose file, with ClickHouse too', () => {
    const compose = COMPOSE.replaceAll(/^( +)# (?= *(- |image: |\w+:$|[A-Z_]+: ))/gm, '$1');
    const program = environmentOf('program', compose);
    const { store } = readSettings({ ...OF_IMAGE, ...program });
    const [url, target] = [store.databaseUrl, ...store.exports].map((one) => new URL(one!));
    expect(url).toMatchObject({ hostname: 'postgres', username: 'postgres' });
    expect(environmentOf('postgres', compose)).toEqual({ POSTGRES_PASSWORD: url!.password });
    expect(target!.hostname).toBe('clickhouse');
    expect(environmentOf('clickhouse', compose)).toEqual({
      CLICKHOUSE_DB: target!.pathname.slice(1),
      CLICKHOUSE_USER: target!.username,
      CLICKHOUSE_PASSWORD: target!.password,
    });
    const volumes = [...compose.matchAll(/^ {6}- (\w+):\//gm)].map(([, name]) => name!);
    expect(volumes).toHaveLength(3);
    for (const name of volumes) expect(compose).toMatch(new RegExp(`^  ${name}:$`, 'm'));
  });
});
