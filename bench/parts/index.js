import * as commandLine from './command-line.js';
import * as largeList from './large-list.js';
import * as latency from './latency.js';
import * as longLoop from './long-loop.js';
import * as manyParked from './many-parked.js';
import * as raw from './raw-limits.js';
import * as resume from './resume.js';
import * as stepsThatTakeTime from './steps-that-take-time.js';
import * as threeSteps from './three-steps.js';
import * as twoWorkers from './two-workers.js';

/**
 * Each part measures one kind of work: `measure(lab)` answers rows for the table; `workload(spec)`, where it has
 * one, is what its processes do.
 */
export const parts = {
  'raw-limits': raw,
  'three-steps': threeSteps,
  'steps-that-take-time': stepsThatTakeTime,
  'long-loop': longLoop,
  'large-list': largeList,
  resume,
  latency,
  'two-workers': twoWorkers,
  'many-parked': manyParked,
  'command-line': commandLine,
};
