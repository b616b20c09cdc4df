import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Row } from '../../../store/port.js';
import type { Feed } from '../state/feed.js';
import { withHidden, withOnly, withTag, type Filters } from '../state/filters.js';
import { tagsOf, valueText } from '../../../../show/summary.js';
import { copyText } from '../../../../show/copy-text.js';
import { Text } from '../../../../show/text.js';

/** A value of a row that was pressed, and where it stands. */
export interface Pressed {
  kind: 'event' | 'type' | 'user' | 'project' | 'channel' | 'tag';
  value: string;
  /** The project of its row. */
  project: string;
  button: HTMLElement;
}

/** The value that a button of a row shows. */
export const pressedValue = (row: Row, button: HTMLElement): Pressed => {
  const kind = button.dataset['kind'] as Pressed['kind'];
  const values: Record<Pressed['kind'], () => string> = {
    event: () => row.event ?? '',
    type: () => row.type,
    user: () => row.user_id ?? '',
    project: () => row.project,
    channel: () => row.channel ?? '',
    tag: () => {
      const [name, value] = Object.entries(tagsOf(row))[Number(button.dataset['at'])]!;
      return typeof value === 'object' ? name : `${name}=${valueText(value)}`;
    },
  };
  return { kind, value: values[kind](), project: row.project, button };
};

interface Choice {
  words: string;
  /** Shown after the words. */
  value?: string;
  filters: Filters;
}

const choicesOf = (
  { kind, value }: Pick<Pressed, 'kind' | 'value'>,
  filters: Filters,
): Choice[] => {
  switch (kind) {
    case 'event':
      return [
        { words: 'Only', value, filters: withOnly(filters, value) },
        { words: 'Hide', value, filters: withHidden(filters, value) },
      ];
    case 'type':
      return [
        { words: 'Only identifies', filters: { ...filters, type: 'identify', event: [] } },
        { words: 'Hide identifies', filters: { ...filters, type: 'event' } },
      ];
    case 'tag':
      return [{ words: 'Only with', value, filters: withTag(filters, value) }];
    default:
      return [{ words: `Only this ${kind}`, value, filters: { ...filters, [kind]: value } }];
  }
};

const GAP_PX = 4;
const MARGIN_PX = 8;

/** What can be done with a value. In the top layer, where no edge of a row cuts it. */
export const ValueMenu = ({
  feed,
  pressed,
  onClose,
}: {
  feed: Feed;
  pressed: Pressed;
  onClose: () => void;
}) => {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = menu.current!;
    element.showPopover();
    const at = pressed.button.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const left = Math.min(at.left, innerWidth - width - MARGIN_PX);
    const below = at.bottom + GAP_PX;
    const top = below + height > innerHeight ? at.top - height - GAP_PX : below;
    element.style.left = `${Math.max(MARGIN_PX, left)}px`;
    element.style.top = `${Math.max(MARGIN_PX, top)}px`;
    element.querySelector('button')?.focus();
    feed.hold('menu', true);
    return () => feed.hold('menu', false);
  }, [feed, pressed]);

  const finish = (action: () => void): void => {
    pressed.button.focus({ preventScroll: true });
    onClose();
    action();
  };
  return (
    <div
      ref={menu}
      class="menu"
      popover="auto"
      role="dialog"
      aria-label="What to do with this value"
      onToggle={(event) => event.newState === 'closed' && onClose()}
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const buttons = [...event.currentTarget.querySelectorAll('button')];
        const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
        buttons[(at + step + buttons.length) % buttons.length]?.focus();
      }}
    >
      {pressed.kind === 'user' && (
        <button
          type="button"
          class="cut"
          onClick={() => {
            const { project, value: user } = pressed;
            finish(() => feed.choose('users', { project, user }));
          }}
        >
          Open this user
        </button>
      )}
      {pressed.kind === 'event' && (
        <button
          type="button"
          class="cut"
          onClick={() => finish(() => feed.choose('overview', undefined, pressed.value))}
        >
          Count by day and tag
        </button>
      )}
      {choicesOf(pressed, feed.state().filters).map(({ words, value, filters }) => (
        <button type="button" class="cut" onClick={() => finish(() => feed.filter(filters))}>
          {words}{' '}
          {value !== undefined && (
            <b>
              <Text of={value} max={40} />
            </b>
          )}
        </button>
      ))}
      <button type="button" class="cut" onClick={() => finish(() => void copyText(pressed.value))}>
        Copy
      </button>
    </div>
  );
};
