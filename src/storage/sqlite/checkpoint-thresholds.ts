/* In a file of its own: it is part of the public types, in which no type of the driver may appear. */

export interface CheckpointThresholds {
  /** From so many frames (4 KiB pages) not yet copied into the database a PASSIVE checkpoint copies them. Default 1,000. */
  readonly passiveFrames: number;
  /** A log of so many frames is begun anew (RESTART), once hardly any are left to copy. Default 4,000. */
  readonly restartFrames: number;
}

export const defaultThresholds: CheckpointThresholds = { passiveFrames: 1000, restartFrames: 4000 };
