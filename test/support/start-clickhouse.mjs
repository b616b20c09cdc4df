import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program.mjs';
import { freePort } from './free-port.mjs';

const USERS = `<yandex>
  <profiles><default/><readonly><readonly>1</readonly></readonly></profiles>
  <quotas><default/></quotas>
  <users>
    <default><password>secret</password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default>
    <reader><password></password><networks><ip>::/0</ip></networks><profile>readonly</profile><quota>default</quota></reader>
  </users>
</yandex>`;

/** A ClickHouse of one's own on free ports of this machine. Its user `default` has the password `secret`. */
export async function startClickhouse() {
  const folder = mkdtempSync(join(tmpdir(), 'clickhouse-'));
  const [http, tcp] = [await freePort(), await freePort()];
  for (const name of ['data', 'tmp']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'users.xml'), USERS);
  writeFileSync(
    join(folder, 'config.xml'),
    `<yandex>
      <logger><level>error</level><log>${folder}/log</log><errorlog>${folder}/errors</errorlog></logger>
      <listen_host>127.0.0.1</listen_host><http_port>${http}</http_port><tcp_port>${tcp}</tcp_port>
      <path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path>
      <users_config>${folder}/users.xml</users_config>
      <default_profile>default</default_profile><default_database>default</default_database>
      <mark_cache_size>67108864</mark_cache_size>
    </yandex>`,
  );
  const origin = `http://127.0.0.1:${http}`;
  let child;

  /** Runs a statement as \`default\`, and returns the text of the answer. */
  async function query(statement) {
    const headers = {
      'x-clickhouse-user': 'default',
      'x-clickhouse-key': 'secret',
      connection: 'close',
    };
    const answer = await fetch(origin, { method: 'POST', headers, body: statement });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return text.trim();
  }

  async function start() {
    child = spawn(findProgram('clickhouse-server'), [`--config-file=${folder}/config.xml`], {
      stdio: 'ignore',
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`clickhouse-server ended with ${code}`);
    });
    ended.catch(() => {});
    const ready = async () => {
      while (!(await query('SELECT 1').catch(() => '')))
        await new Promise((resolve) => setTimeout(resolve, 100));
    };
    await Promise.race([ready(), ended]);
  }

  async function kill() {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  await start();
  return {
    url: `clickhouse://default:secret@127.0.0.1:${http}/default`,
    port: http,
    query,
    kill,
    restart: start,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
