import { readFileSync } from 'node:fs';
import { messageOf } from '../interface/errors.js';
import { nearest } from '../interface/near.js';

/**
 * The variables of an environment that have one of these names. A name in `inFiles` may also be given as the path of a
 * file that has the value, under the same name with `_FILE`: that is how secrets reach a container. A variable that is
 * empty is given and wrong, since a value that was not filled in is not meant to be missing.
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
 * Calls `say` for each variable whose name is nearly that of a setting which is not given. It may be another program's,
 * so it is no error.
 */
export const tellMisspelt = (
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
  inFiles: readonly string[],
  say: (line: string) => void,
): void => {
  const known = [...names, ...inFiles.map((name) => `${name}_FILE`)];
  for (const [name, value] of Object.entries(environment)) {
    const meant = value && !known.includes(name) ? nearest(name, known) : undefined;
    if (meant && environment[meant] === undefined)
      say(`\`${name}\` is no setting: did you mean \`${meant}\`?`);
  }
};
