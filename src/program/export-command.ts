import { createTarget } from '../server/exports/create-target.js';
import { readDelays } from '../server/exports/delays.js';
import { verify, type Verified } from '../server/exports/verify.js';
import type { Target } from '../server/exports/target.js';
import type { Store } from '../service.js';
import type { Voice } from './log.js';
import { openStore } from './open-store.js';
import type { Places } from './settings.js';

export const EXPORT_USAGE =
  'export list | export verify [<name>] | export from <place> <name>|--new-source | export forget <name>';

/** How often the progress of a comparison is printed, in places. */
const SAY_EVERY = 1_000_000;

const list = async (store: Store, { print, say }: Voice): Promise<void> => {
  const targets = await readDelays(store, Date.now());
  if (!targets.length) say('nothing was exported yet');
  for (const { name, place, behind, delay_ms, dead, parked, message } of targets) {
    const late = behind ? `, ${behind} rows and ${Math.round(delay_ms / 1_000)} s behind` : '';
    const refused = `${parked ? `, ${parked} set aside` : ''}${dead ? `, ${dead} refused` : ''}`;
    print(`${name}  place ${place}${late}${refused}${message ? `: ${message}` : ''}`);
  }
};

/** Why rows wait for a target that takes them. */
const reasonOf = ({ wait: { ms, rows } }: Target, { isHeld }: Verified): string =>
  isHeld
    ? `they are written ${ms / 1_000} s after the first of them came, or as soon as there are ${rows}`
    : 'no program exports to it now';

const inWords = (target: Target, found: Verified): string[] => {
  const { from, to, stored, exported, filled, missing, dead, gone, twice, waiting } = found;
  const { name } = target;
  const doubled = twice.reduce((sum, { rows }) => sum + rows, 0);
  const blocks = twice.map(({ from: first, rows }) => `${rows} from place ${first} on`).join(', ');
  return [
    to > from
      ? `${name}: ${exported} of ${stored} rows, from place ${from} to ${to - 1}`
      : `${name}: no rows to compare`,
    ...(filled ? [`  ${filled} were missing, and are written now`] : []),
    ...(missing ? [`  ${missing} are missing: \`export from\` writes the files again`] : []),
    ...(dead ? [`  ${dead} are refused by the target`] : []),
    ...(gone ? [`  ${gone} are in the target alone: they expired, or were erased`] : []),
    ...(doubled ? [`  ${doubled} are there more than once: ${blocks}`] : []),
    ...(waiting ? [`  ${waiting} wait: ${found.problem ?? reasonOf(target, found)}`] : []),
    ...(found.problem && !waiting ? [`  it takes no rows: ${found.problem}`] : []),
  ];
};

/** The targets of the settings, or the one of this name. */
const targetsOf = (addresses: readonly string[], wanted: string | undefined): Target[] => {
  const targets = addresses
    .map((address) => createTarget(address, (url) => openStore(url)))
    .filter(({ name }) => !wanted || name === wanted);
  if (!targets.length)
    throw new Error(wanted ? `EXPORT names no target ${wanted}` : 'EXPORT names no target');
  return targets;
};

const verifyAll = async (
  store: Store,
  addresses: readonly string[],
  wanted: string | undefined,
  { print, say }: Voice,
): Promise<boolean> => {
  const targets = targetsOf(addresses, wanted);
  let isFine = true;
  for (const target of targets) {
    // With others, those that cannot be compared are left out.
    if (!target.sumPlaces && targets.length > 1) continue;
    let saidAt = 0;
    const onProgress = (place: number): void => {
      if (place - saidAt < SAY_EVERY) return;
      saidAt = place;
      say(`${target.name}: compared up to place ${place} …`);
    };
    const found = await verify({ store, target, onProgress });
    inWords(target, found).forEach((line) => print(line));
    isFine &&= !found.missing && !found.dead && !found.twice.length && !found.problem;
  }
  return isFine;
};

/** Sets places. A new source is one for all targets, so all of them go on behind the place. */
const from = async (
  { progress }: Store,
  targets: readonly Target[],
  { place, hasNewSource }: { place: number; hasNewSource: boolean },
  { print }: Voice,
): Promise<void> => {
  const [first] = targets;
  if (hasNewSource)
    print(`the rows have the source ${await progress.newSource(place)} from now on`);
  else if (targets.length > 1) throw new Error('say which target: `export list` has their names');
  else if (first!.last)
    throw new Error(
      `${first!.name} says itself which rows it has: \`export verify\` writes missing ones, and --new-source all again`,
    );
  for (const { name } of targets) {
    const isMoved = await progress.moveTo(name, place);
    print(
      isMoved ? `${name} goes on behind place ${place}` : `nothing was exported to ${name} yet`,
    );
  }
};

const forget = async ({ progress }: Store, name: string, { print }: Voice): Promise<void> => {
  const target = (await progress.targets()).find((one) => one.name === name);
  if (!target) throw new Error(`there is no target ${name}`);
  if (target.isHeld)
    throw new Error(`a program exports to ${name} now: start it without this target first`);
  await progress.forget(name);
  print(`forgot ${name}`);
};

/** Shows targets of exports, compares them with the database, and changes their places. Returns whether all is well. */
export const runExportCommand = async (
  args: readonly string[],
  { store: { databaseUrl, exports } }: Places,
  voice: Voice,
): Promise<boolean> => {
  const isFlag = (arg: string): boolean => arg === '--new-source';
  const [verb, ...rest] = args.filter((arg) => !isFlag(arg));
  const [one, other, ...more] = rest;
  const hasNewSource = args.some(isFlag);
  const isFine =
    (verb === 'list' && !rest.length) ||
    (verb === 'verify' && rest.length <= 1) ||
    (verb === 'from' && /^\d{1,15}$/.test(one ?? '') && !more.length && !(hasNewSource && other)) ||
    (verb === 'forget' && one !== undefined && other === undefined);
  if (!isFine || (hasNewSource && verb !== 'from')) throw new Error(`usage: ${EXPORT_USAGE}`);
  const store = await openStore(databaseUrl, { mustExist: true });
  try {
    if (verb === 'verify') return await verifyAll(store, exports, one, voice);
    if (verb === 'list') await list(store, voice);
    else if (verb === 'from')
      await from(store, targetsOf(exports, other), { place: Number(one), hasNewSource }, voice);
    else await forget(store, one!, voice);
    return true;
  } finally {
    await store.close();
  }
};
