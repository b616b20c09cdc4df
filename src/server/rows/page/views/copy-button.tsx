import { useEffect, useState } from 'preact/hooks';

/** Outside of HTTPS and localhost there is no clipboard but by a selection. */
const copyBySelection = (text: string): boolean => {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr-only';
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return isCopied;
};

export const copyText = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
};

const SHOWN_MS = 1600;

export const CopyButton = ({ text, label = 'Copy' }: { text: () => string; label?: string }) => {
  const [told, tell] = useState('');
  useEffect(() => {
    if (!told) return undefined;
    const timer = setTimeout(() => tell(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = async (): Promise<void> =>
    tell((await copyText(text())) ? 'Copied' : 'Could not copy');
  return (
    <button type="button" class={`copy${told ? ' told' : ''}`} onClick={() => void copy()}>
      <span aria-live="polite">{told || label}</span>
    </button>
  );
};
