import type { Row } from '../../../store/port.js';
import { arrivalTime, delayOf } from '../../../../show/times.js';
import { hueOf } from '../../../../show/hue.js';
import { summaryOf } from '../../../../show/summary.js';
import { RowDetails } from '../../../../show/row-details.js';
import { serviceAddress } from '../state/place.js';
import { still } from './still.js';
import { Text } from '../../../../show/text.js';

interface Props {
  row: Row;
  isOpen: boolean;
  /** The one row that the Tab key goes to. */
  isActive: boolean;
  isFresh: boolean;
  /** The day, by which a time is told with its date or without. */
  today: number;
}

/**
 * A row of the feed. What a click does is decided by the list, from `data-kind` and `data-at`, so that a row costs no
 * function of its own.
 */
export const RowItem = still(({ row, isOpen, isActive, isFresh, today }: Props) => {
  const id = `row-${row.seq}`;
  const isLate = delayOf(row).kind === 'late';
  const classes = ['row', row.type, isLate && 'came-late', isOpen && 'open', isFresh && 'fresh'];
  return (
    <article
      id={id}
      class={classes.filter(Boolean).join(' ')}
      data-seq={row.seq}
      tabIndex={isActive ? 0 : -1}
      aria-labelledby={`${id}-name ${id}-at`}
    >
      <Line id={id} row={row} isOpen={isOpen} tabIndex={isActive ? 0 : -1} today={today} />
      {isOpen && <RowDetails row={row} service={serviceAddress()} />}
    </article>
  );
});

/** Drawn, since not every machine has a font with emoji. */
const Person = () => (
  <svg class="person" viewBox="0 0 16 16" width="15" height="15">
    <circle cx="8" cy="5" r="3.2" />
    <path d="M2 15a6 6 0 0 1 12 0z" />
  </svg>
);

interface LineProps {
  id: string;
  row: Row;
  isOpen: boolean;
  tabIndex: number;
  today: number;
}

const Line = ({ id, row, isOpen, tabIndex, today }: LineProps) => {
  const { icon, name, description, chips, more } = summaryOf(row);
  const { day, time } = arrivalTime(row.received_at, today);
  const delay = delayOf(row);
  return (
    <div class="line">
      <time id={`${id}-at`} class="at" dateTime={row.received_at}>
        {day && <span class="day">{day} </span>}
        {time}
      </time>
      <div class="what">
        <span class="icon" aria-hidden="true">
          {row.type === 'identify' ? <Person /> : icon && <Text of={icon} />}
        </span>
        <button
          type="button"
          id={`${id}-name`}
          class="name value"
          data-kind={row.type === 'identify' ? 'type' : 'event'}
          aria-haspopup="dialog"
          tabIndex={tabIndex}
        >
          <Text of={name} />
        </button>
        {description && <Text of={description} name="description" />}
      </div>
      <div class="meta">
        <div class="who">
          {row.user_id !== undefined && row.user_id !== null && (
            <button
              type="button"
              class="user value"
              data-hue={hueOf(row.user_id)}
              data-kind="user"
              aria-haspopup="dialog"
              tabIndex={tabIndex}
            >
              <Text of={row.user_id} max={80} />
            </button>
          )}
        </div>
        <div class="where">
          <button
            type="button"
            class="value"
            data-kind="project"
            tabIndex={tabIndex}
            aria-haspopup="dialog"
          >
            <Text of={row.project} max={60} />
          </button>
          {row.channel && (
            <>
              <span aria-hidden="true">·</span>
              <button
                type="button"
                class="value"
                data-kind="channel"
                tabIndex={tabIndex}
                aria-haspopup="dialog"
              >
                <Text of={row.channel} max={60} />
              </button>
            </>
          )}
        </div>
        <span class={`after ${delay.kind}`}>{delay.text}</span>
      </div>
      <div class="chips">
        {row.arrivals > 1 && <span class="twice">came {row.arrivals} times, stored once</span>}
        {chips.map(({ key, text }, at) => (
          <button
            type="button"
            class="chip value"
            data-kind="tag"
            data-at={at}
            tabIndex={tabIndex}
            aria-haspopup="dialog"
          >
            <Text of={key} name="key" /> <Text of={text} max={60} />
          </button>
        ))}
        {more > 0 && <span class="soft">+{more}</span>}
      </div>
      <button
        type="button"
        class="toggle"
        data-kind="toggle"
        tabIndex={tabIndex}
        aria-expanded={isOpen}
        aria-label="Details"
      />
    </div>
  );
};
