import { harmless, loggedCommands } from '../common/index.js';
import { type Io, type Surroundings, wantsColor } from './io.js';

/**
 * All that commands write goes through here. Flows, file names, inputs, errors and rows of a database hold what others
 * wrote; nothing of it may steer a terminal, or whoever reads the log of a job. Texts are made one line where they are
 * put into one (`oneLine`); this is the last gate, which no text passes around.
 */
export function harmlessOutput(outer: Surroundings): Io {
  const color = { out: wantsColor(outer, outer.outIsTerminal), err: wantsColor(outer, outer.errIsTerminal) };
  const isByNpm = (outer.env.npm_command ?? '') !== '';
  const asCalled = (text: string): string => (isByNpm ? text.replace(proposed, 'npx runsheet ') : text);
  return {
    ...outer,
    out: (text) => outer.out(asCalled(forPeople(text, color.out))),
    err: (text) => outer.err(asCalled(forPeople(text, color.err))),
    data: (text) => outer.out(text),
    draw: (text) => outer.err(text),
  };
}

/** A command that is proposed: alone in a line, or quoted. What npm has started is on the path of npm alone. */
const proposed = /(?<=^\s+|^next +|`)runsheet (?=[a-z-])/gm;

/** The styles of `paint`: what a text for people may have where it is coloured. */
const ownStyles = /(\u001b\[(?:0|1|2|31|32|33|35|36)m)/;

/** Where GitHub Actions finds a command: at the beginning of a line, after white space. */
const workflowCommand = /^((?:\s|\u001b\[\d+m)*):(?=:)/gm;

function forPeople(text: string, inColor: boolean): string {
  const shown = inColor
    ? text
        .split(ownStyles)
        .map((part, index) => (index % 2 === 1 ? part : harmless(part)))
        .join('')
    : harmless(text);
  return shown.replace(workflowCommand, '$1: ').replace(loggedCommands, '# #');
}
