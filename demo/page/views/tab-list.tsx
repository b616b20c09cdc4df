import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { useState } from 'preact/hooks';

export interface Panel {
  id: string;
  title: string;
  show: () => ComponentChildren;
}

/** Tabs as https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ wants them. */
export const TabList = ({ label, panels }: { label: string; panels: readonly Panel[] }) => {
  const [chosen, choose] = useState(panels[0]!.id);
  const at = panels.findIndex(({ id }) => id === chosen);
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const { id } = panels[(at + step + panels.length) % panels.length]!;
    choose(id);
    document.getElementById(`tab-${id}`)?.focus();
  };
  return (
    <section class="card panel">
      <div class="tab-list" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {panels.map(({ id, title }) => (
          <button
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-selected={id === chosen}
            aria-controls={`panel-${id}`}
            tabIndex={id === chosen ? 0 : -1}
            onClick={() => choose(id)}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        class="pad"
        role="tabpanel"
        id={`panel-${chosen}`}
        aria-labelledby={`tab-${chosen}`}
        tabIndex={0}
      >
        {panels[at]!.show()}
      </div>
    </section>
  );
};
