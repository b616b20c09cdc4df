import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Asks for more rows as it comes into sight, or is pressed. */
export const Sight = ({ onSeen, of, where }: { onSeen: () => void; of: number; where: string }) => {
  const element = useRef<HTMLDivElement>(null);
  const seen = useRef(onSeen);
  useLayoutEffect(() => {
    seen.current = onSeen;
  });
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && seen.current(),
      { rootMargin: '600px' },
    );
    observer.observe(element.current!);
    return () => observer.disconnect();
    // Anew with each step, since it may still be in sight.
  }, [of]);
  return <div ref={element} class={`sight ${where}`} />;
};
