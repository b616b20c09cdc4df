import type { ComponentChildren } from 'preact';

/** One line of a list of names and values. */
export const Field = (props: { name: ComponentChildren; children: ComponentChildren }) => (
  <div>
    <dt class="soft small">{props.name}</dt>
    <dd>{props.children}</dd>
  </div>
);
