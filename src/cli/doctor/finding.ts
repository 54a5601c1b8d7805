/** What one check of the installation found. */
export interface Finding {
  /** What was looked at: `Node`, `database`. */
  readonly subject: string;
  readonly state: 'fine' | 'warning' | 'problem';
  /** What is so, in one line. */
  readonly message: string;
  /** What to do about it; given with every warning and problem. */
  readonly remedy?: string;
}

export function fine(subject: string, message: string): Finding {
  return { subject, state: 'fine', message };
}

export function warning(subject: string, message: string, remedy: string): Finding {
  return { subject, state: 'warning', message, remedy };
}

export function problem(subject: string, message: string, remedy: string): Finding {
  return { subject, state: 'problem', message, remedy };
}
