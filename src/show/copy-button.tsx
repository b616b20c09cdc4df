import { useEffect, useState } from 'preact/hooks';
import { copyText } from './copy-text.js';

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
