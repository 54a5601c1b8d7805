import { describe, expect, it } from 'vitest';
import { Region } from '../../../src/cli/live/region.js';
import { harmlessOutput } from '../../../src/cli/harmless-output.js';
import { processIo } from '../../../src/cli/io.js';
import { TerminalScreen } from './terminal-screen.js';

function newRegion(columns = 20): { region: Region; screen: TerminalScreen; exit: () => void; divert: () => number } {
  const screen = new TerminalScreen(columns);
  const exits = new Set<() => void>();
  let diverted = 0;
  const region = new Region({
    ...harmlessOutput(processIo),
    draw: (text) => screen.write(text),
    terminalSize: () => ({ columns: screen.columns, rows: 24 }),
    onExit: (listener) => {
      exits.add(listener);
      return () => void exits.delete(listener);
    },
    divertOutput: () => {
      diverted += 1;
      return () => (diverted -= 1);
    },
  });
  return { region, screen, exit: () => exits.forEach((each) => each()), divert: () => diverted };
}

describe('the region of the terminal that is drawn anew', () => {
  it('replaces its lines, more by fewer too, and writes above them', () => {
    const { region, screen } = newRegion();
    screen.write('$ run\n');
    region.draw(['one', 'two', 'three']);
    region.draw(['uno', 'due']);
    region.above('said before\n');
    region.draw(['1']);
    expect(screen.text).toBe('$ run\nsaid before\n1\n');
    expect(screen.isCursorShown).toBe(false);
    region.end();
    expect(screen.isCursorShown).toBe(true);
    screen.write('{}\n');
    expect(screen.text).toBe('$ run\nsaid before\n1\n{}\n');
  });

  it('keeps what has no line break yet until it has, or until the end', () => {
    const { region, screen } = newRegion();
    region.draw(['state']);
    region.above('to');
    region.above('gether\nrest');
    expect(screen.text).toBe('together\nstate\n');
    region.end();
    expect(screen.text).toBe('together\nstate\nrest');
  });

  it('gives the cursor back when the process ends, and lets go of what it took', () => {
    const { region, screen, exit, divert } = newRegion();
    region.draw(['state']);
    expect(divert()).toBe(1);
    exit();
    expect([screen.isCursorShown, divert()]).toEqual([true, 0]);
  });

  it('writes nothing where nothing has changed', () => {
    const { region, screen } = newRegion();
    region.draw(['a', 'b']);
    const { written } = screen;
    region.draw(['a', 'b']);
    expect(screen.written).toBe(written);
  });
});
