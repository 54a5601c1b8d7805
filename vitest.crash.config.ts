import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** `npm run test:crash`: the crash tests alone, with ten times the kills, and the full form of those with workers. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/crash/**/*.test.ts'],
    env: { RUNSHEET_KILLS: process.env.RUNSHEET_KILLS ?? '200', RUNSHEET_CRASH: 'full' },
    testTimeout: 60 * 60_000,
  },
});
