import { onTestFinished } from 'vitest';

export interface ServerSentEvent {
  id: string;
  name: string;
  data: Record<string, unknown>;
}

const parse = (text: string): ServerSentEvent => {
  const of = (field: string) => new RegExp(`^${field}: (.*)$`, 'm').exec(text)?.[1] ?? '';
  return { id: of('id'), name: of('event'), data: JSON.parse(of('data')) as never };
};

/** Reads server-sent events as they come. */
export const readEvents = (response: Response) => {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader.cancel());
  const seen: ServerSentEvent[] = [];
  let rest = '';
  const readMore = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    if (done) return false;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop()!;
    seen.push(...parts.filter((part) => !part.startsWith(':')).map(parse));
    return true;
  };
  return {
    seen,
    /** Reads until the condition holds, or until there is no more. */
    until: async (isEnough: (seen: readonly ServerSentEvent[]) => boolean) => {
      while (!isEnough(seen) && (await readMore()));
      return seen;
    },
    cancel: () => reader.cancel(),
  };
};
