import type { Clock } from 'runsheet';

export function fasterClock(pace: { since: number; factor: number }): Clock;
