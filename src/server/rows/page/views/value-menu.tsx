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
  act: () => void;
}

const choicesOf = ({ kind, value, project }: Pressed, feed: Feed): Choice[] => {
  const { filters } = feed.state();
  const filter = (words: string, next: Filters, of?: string): Choice => ({
    ...{ words, act: () => feed.filter(next) },
    ...(of !== undefined && { value: of }),
  });
  switch (kind) {
    case 'event':
      return [
        { words: 'Count by day and tag', act: () => feed.choose('overview', undefined, value) },
        filter('Only', withOnly(filters, value), value),
        filter('Hide', withHidden(filters, value), value),
      ];
    case 'type':
      return [
        filter('Only identifies', { ...filters, type: 'identify', event: [] }),
        filter('Hide identifies', { ...filters, type: 'event' }),
      ];
    case 'tag':
      return [filter('Only with', withTag(filters, value), value)];
    case 'user':
      return [
        { words: 'Open this user', act: () => feed.choose('users', { project, user: value }) },
        filter('Only this user', { ...filters, user: value }, value),
      ];
    default:
      return [filter(`Only this ${kind}`, { ...filters, [kind]: value }, value)];
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
      {[
        ...choicesOf(pressed, feed),
        { words: 'Copy', act: () => void copyText(pressed.value) },
      ].map(({ words, value, act }: Choice) => (
        <button class="cut" onClick={() => finish(act)}>
          {words}{' '}
          {value !== undefined && (
            <b>
              <Text of={value} max={40} />
            </b>
          )}
        </button>
      ))}
    </div>
  );
};
