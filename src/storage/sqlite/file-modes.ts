import { chmodSync, statSync } from 'node:fs';

/** What runs keep is nobody else's business: inputs, outputs, errors. */
export const ownersFile = 0o600;
export const ownersFolder = 0o700;

/**
 * Who may use a database may use what lies beside it: its owner has opened it to others by its mode, or has not.
 *
 * @param database an existing file
 */
export function shareAs(database: string, beside: string): void {
  const mode = statSync(database).mode & 0o666;
  const isFolder = statSync(beside).isDirectory();
  // Whoever may read a folder's files must be able to go into it.
  chmodSync(beside, isFolder ? mode | ((mode & 0o444) >> 2) : mode);
}
