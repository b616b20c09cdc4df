import { messageOf } from './errors.js';

/** Imports a package, most of which are optional, or rejects with words that say how to install it. */
export const load = async <Module>(
  name: string,
  importIt: () => Promise<Module>,
): Promise<Module> => {
  try {
    return await importIt();
  } catch (error) {
    if (!messageOf(error).includes(`'${name}'`)) throw error;
    throw new Error(`the package ${name} is missing: npm install ${name}`, { cause: error });
  }
};
