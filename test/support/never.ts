/** A token function that never answers. */
export const never = () => new Promise<string>(() => undefined);
