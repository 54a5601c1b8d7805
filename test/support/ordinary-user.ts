/** Permissions mean nothing to root, as whom tests often run. */
export async function asOrdinaryUser(act: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  try {
    await act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
