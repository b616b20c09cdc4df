import { memberOf } from '../client/page.js';

/** The names of the methods of an object. */
type MethodOf<Target> = {
  [Name in keyof Target]: Target[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof Target];

/**
 * Calls a method of an element or of the document. A form answers for its fields first: `form.matches` is the field of
 * that name, so the method is not looked for in the object itself.
 */
export const ask = <Target extends object, Name extends MethodOf<Target>>(
  target: Target,
  name: Name,
  ...args: Parameters<Extract<Target[Name], (...args: never[]) => unknown>>
): ReturnType<Extract<Target[Name], (...args: never[]) => unknown>> =>
  (memberOf(target, name) as (...args: unknown[]) => never).apply(target, args);
