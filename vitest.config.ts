import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^runsheet\/testing$/, replacement: `${root}src/testing/index.ts` },
      { find: /^runsheet$/, replacement: `${root}src/index.ts` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // By default one core is left idle, which on two doubles the time.
    maxWorkers: '100%',
    // They end tests that hang, and say nothing of how long one may take: machines are slow, busy, stopped for a while.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
