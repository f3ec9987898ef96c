'use client';

import { useEffect } from 'react';
import '../../app/main.js';

export function Site() {
  useEffect(() => {
    document.documentElement.dataset.hydrated = 'true';
  }, []);
  return <attention-map />;
}
