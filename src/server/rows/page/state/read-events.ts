/** One server-sent event. */
export interface ServerEvent {
  name: string;
  data: string;
  id: string | undefined;
}

/**
 * Splits what comes in into events, by https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream.
 * A comment is nothing but a sign of life.
 */
export const createEventReader = (onEvent: (event: ServerEvent) => void) => {
  let rest = '';
  let name = '';
  let data: string[] = [];
  let id: string | undefined;

  const takeLine = (line: string): void => {
    if (!line) {
      if (data.length) onEvent({ name: name || 'message', data: data.join('\n'), id });
      [name, data] = ['', []];
      return;
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line)!;
    if (field === 'event') name = value;
    if (field === 'data') data.push(value);
    if (field === 'id') id = value;
  };

  return (chunk: string): void => {
    const lines = (rest + chunk).split(/\r\n|\n/);
    rest = lines.pop()!;
    for (const line of lines) takeLine(line);
  };
};
