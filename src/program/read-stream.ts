/** An event of a stream of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface StreamEvent {
  type: string;
  data: string;
  id: string | undefined;
}

/** Reads the events of an answer as they come. */
export async function* readStream(
  body: NonNullable<Response['body']>,
): AsyncGenerator<StreamEvent> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const text = decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map<string, string>();
      for (const line of block.split('\n')) {
        const [, name, value] = /^(\w+): ?([^]*)$/.exec(line) ?? [];
        if (!name) continue;
        const before = fields.get(name);
        fields.set(name, before === undefined ? value! : `${before}\n${value}`);
      }
      const data = fields.get('data');
      if (data !== undefined)
        yield { type: fields.get('event') ?? 'message', data, id: fields.get('id') };
    }
  }
}
