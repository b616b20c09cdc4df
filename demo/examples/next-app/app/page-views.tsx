'use client';

import { usePathname } from 'next/navigation';
import { useEffect, useRef } from 'react';
import { analytics } from '../tracking';

export function PageViews() {
  const path = usePathname();
  const seen = useRef('');
  useEffect(() => {
    if (seen.current === path) return;
    seen.current = path;
    analytics.event('Page Viewed', { tags: { path } });
  }, [path]);
  return null;
}
