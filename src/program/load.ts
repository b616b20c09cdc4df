import { messageOf } from '../interface/errors.js';

/**
 * Imports a package, or rejects with words that say how to install it. Most packages that the program needs are
 * optional.
 */
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
