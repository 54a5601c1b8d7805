import { suspectAfter } from '../storage/index.js';

/** So many interruptions are suffered by a run that is driven with nothing beside it, before its step is given up. */
const sufferedAlone = 10;

/** From this many interruptions in a row on, a step that was under way fails with `Interrupted`. */
export const givenUpAfter = suspectAfter + sufferedAlone;
