import { readFileSync } from 'node:fs';
import { messageOf } from '../util/errors.js';
import { nearest } from '../util/near.js';

/**
 * Reads the variables with these names. For a name in `inFiles` the environment may have the path of a file with the
 * value, under the same name with `_FILE`, as secrets of containers are given. An empty variable counts as given, so
 * that it is reported as wrong: somebody has forgotten to fill it in.
 */
export const readEnvironment = <Name extends string>(
  environment: NodeJS.ProcessEnv,
  names: readonly Name[],
  inFiles: readonly Name[] = [],
): Partial<Record<Name, string>> => {
  const read = (name: Name): string | undefined => {
    const given = environment[name];
    const path = inFiles.includes(name) ? environment[`${name}_FILE`] : undefined;
    if (path === undefined) return given;
    if (given !== undefined)
      throw new Error(`wrong settings: \`${name}\` and \`${name}_FILE\`: give one of the two`);
    try {
      const value = readFileSync(path, 'utf8').trim();
      if (!value) throw new Error('the file is empty');
      return value;
    } catch (error) {
      throw new Error(`wrong settings: \`${name}_FILE\`: ${messageOf(error)}`, { cause: error });
    }
  };
  const pairs = names.map((name) => [name, read(name)] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) as Partial<
    Record<Name, string>
  >;
};

/**
 * Calls `say` for each variable whose name is nearly that of a setting that is not given, or what other programs call
 * that. This is no error, since the variable may be another program's.
 */
export const tellMisspelt = (
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
  inFiles: readonly string[],
  otherNames: Readonly<Record<string, readonly string[]>>,
  say: (line: string) => void,
): void => {
  const others = Object.entries(otherNames);
  const known = [...names, ...inFiles.map((name) => `${name}_FILE`)];
  for (const [name, value] of Object.entries(environment)) {
    if (!value || known.includes(name)) continue;
    const [meant] = others.find(([, others]) => others.includes(name)) ?? [nearest(name, known)];
    if (meant && environment[meant] === undefined)
      say(`\`${name}\` is no setting: did you mean \`${meant}\`?`);
  }
};
