/** A command of the docs, as a request: its path, and what `fetch` takes. Variables of the shell become the token. */
export const requestOf = (command: string, token: string): [path: string, init: RequestInit] => {
  const [, path = ''] = /https?:\/\/[^/]+(\/[^'"\s]*)/.exec(command) ?? [];
  const headers = [...command.matchAll(/-H ['"](.+?): (.+?)['"]/g)].map(
    ([, name, value]): [string, string] => [name!, value!.replace(/[$]\w+/, token)],
  );
  const [, body] = /-d '(.+)'/.exec(command) ?? [];
  const [, method = body ? 'POST' : 'GET'] = /-X (\w+)/.exec(command) ?? [];
  return [path, { method, headers, ...(body && { body }) }];
};
