import type { ComponentChildren } from 'preact';
import type { Row } from '../../../store/port.js';
import { arrivalTime, delayOf } from '../../../../show/times.js';
import { hueOf } from '../../../../show/hue.js';
import { summaryOf } from '../../../../show/summary.js';
import { Person } from '../../../../show/person.js';
import { RowDetails } from '../../../../show/row-details.js';
import { serviceAddress } from '../state/place.js';
import { still } from './still.js';
import { Text } from '../../../../show/text.js';
import type { Pressed } from './value-menu.js';

interface Props {
  row: Row;
  isOpen: boolean;
  /** The one row that the Tab key goes to. */
  isActive: boolean;
  isFresh: boolean;
  /** Whether the page has seen several projects, and several channels: else their names say nothing. */
  hasProjects: boolean;
  hasChannels: boolean;
  /** The day, by which a time is told with its date or without. */
  today: number;
}

/**
 * A row of the feed. What a click does is decided by the list, from `data-kind` and `data-at`, so that a row costs no
 * function of its own.
 */
export const RowItem = still((props: Props) => {
  const { row, isOpen, isActive, isFresh } = props;
  const id = `row-${row.seq}`;
  const classes = ['row', row.type, isOpen && 'open', isFresh && 'fresh'];
  return (
    <article
      id={id}
      class={classes.filter(Boolean).join(' ')}
      data-seq={row.seq}
      data-hue={row.type === 'identify' ? 'identify' : hueOf(row.event ?? '')}
      tabIndex={isActive ? 0 : -1}
      aria-labelledby={`${id}-name ${id}-at`}
    >
      <Line {...props} id={id} tabIndex={isActive ? 0 : -1} />
      {isOpen && <RowDetails row={row} service={serviceAddress()} />}
    </article>
  );
});

interface ValueProps {
  id?: string;
  class?: string;
  'data-at'?: number;
}

const Line = (props: Props & { id: string; tabIndex: number }) => {
  const { id, row, isOpen, tabIndex, today, hasProjects, hasChannels } = props;
  const { icon, name, description, chips, more } = summaryOf(row);
  const { day, time } = arrivalTime(row.received_at, today);
  const delay = delayOf(row);
  const value = (kind: Pressed['kind'], text: ComponentChildren, own: ValueProps = {}) => (
    <button {...{ class: 'value', 'data-kind': kind, tabIndex, ...own }} aria-haspopup="dialog">
      {text}
    </button>
  );
  return (
    <div class="line">
      <time id={`${id}-at`} class="at" dateTime={row.received_at}>
        {day && <span class="sr-only">{day} </span>}
        {time}
      </time>
      <div class="what beside">
        <span class="icon" aria-hidden="true">
          {row.type === 'identify' ? <Person /> : icon && <Text of={icon} />}
        </span>
        {value(row.type === 'identify' ? 'type' : 'event', <Text of={name} />, {
          ...{ id: `${id}-name`, class: 'name value' },
        })}
        {description && <Text of={description} name="description cut soft small" />}
      </div>
      <div class="meta">
        <div class="who beside">
          {row.user_id !== undefined &&
            row.user_id !== null &&
            value(
              'user',
              <>
                <i class="hue" data-hue={hueOf(row.user_id)} />
                <Text of={row.user_id} max={80} name="cut" />
              </>,
              { class: 'value beside' },
            )}
        </div>
        <div class="where beside soft">
          {hasProjects && value('project', <Text of={row.project} max={60} />)}
          {hasChannels && row.channel && (
            <>
              {hasProjects && <span aria-hidden="true">·</span>}
              {value('channel', <Text of={row.channel} max={60} />)}
            </>
          )}
        </div>
      </div>
      <div class="chips beside">
        {(delay.kind === 'late' || delay.kind === 'ahead') && (
          <span class="pill late">{delay.text}</span>
        )}
        {row.arrivals > 1 && <span class="pill twice">came {row.arrivals} times, stored once</span>}
        {chips.map(({ key, text }, at) =>
          value(
            'tag',
            <>
              <Text of={key} name="key" /> <Text of={text} max={60} />
            </>,
            { class: 'chip value', 'data-at': at },
          ),
        )}
        {more > 0 && <span class="soft">+{more}</span>}
      </div>
      <button
        class="toggle soft"
        data-kind="toggle"
        tabIndex={tabIndex}
        aria-expanded={isOpen}
        aria-label="Details"
      />
    </div>
  );
};
