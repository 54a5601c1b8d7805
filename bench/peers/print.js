import { amount } from '../table.js';

const columns = [
  ['peer (durability)', 34],
  ['at once', 7],
  ['its runs/s', 18],
  ["Runsheet's", 20],
  ['Runsheet to peer', 26],
  ['to raw commits', 15],
  ['fsyncs a run', 13],
  ['processor ms a run', 18],
  ['load', 0],
];

export function printTitles() {
  print(columns.map(([title]) => title));
}

/** One comparison. A spread is told as median (least–most), two figures are the peer's and Runsheet's. */
export function printLine({ peer, variant, durability, atOnce, theirs, ours, oursToTheirs, fsyncsARun, load, target }) {
  const isMissed = target !== undefined && oursToTheirs.median < target.atLeast;
  print([
    `${peer} ${variant} (${durability})`,
    String(atOnce),
    spread(theirs.perSecond),
    spread(ours.perSecond),
    `${spread(oursToTheirs)}${target ? ` ≥ ${target.atLeast}` : ''}${isMissed ? ' missed' : ''}`,
    `${amount(theirs.toRaw.median)}, ${amount(ours.toRaw.median)}`,
    fsyncsARun ? `${amount(fsyncsARun.theirs)}, ${amount(fsyncsARun.ours)}` : 'not counted',
    `${amount(theirs.cpuMs.median)}, ${amount(ours.cpuMs.median)}`,
    amount(load.median),
  ]);
}

function spread({ median, least, most }) {
  return `${amount(median)} (${amount(least)}–${amount(most)})`;
}

function print(cells) {
  console.log(
    cells
      .map((cell, index) => cell.padEnd(columns[index][1]))
      .join(' ')
      .trimEnd(),
  );
}
