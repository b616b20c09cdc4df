import type { ComponentChildren } from 'preact';

interface Props<Name extends string> {
  kind: 'tabs' | 'segments';
  label: string;
  names: readonly Name[];
  chosen: Name;
  /** The id of a tab begins with this. */
  id: string;
  /** The id of the element that the tabs fill. */
  panel: string;
  choose: (name: Name) => void;
  wordsOf: (name: Name) => ComponentChildren;
}

/** Tabs: the Tab key goes to the chosen one, and the arrows go from one to the next. */
export const TabList = <Name extends string>(props: Props<Name>) => {
  const { kind, label, names, chosen, id, panel, choose, wordsOf } = props;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = names[(names.indexOf(chosen) + step + names.length) % names.length]!;
    choose(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <div class={kind} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {names.map((name) => (
        <button
          type="button"
          class={kind === 'segments' ? 'small' : undefined}
          role="tab"
          id={`${id}-${name}`}
          aria-selected={chosen === name}
          aria-controls={panel}
          tabIndex={chosen === name ? 0 : -1}
          onClick={() => choose(name)}
        >
          {wordsOf(name)}
        </button>
      ))}
    </div>
  );
};
