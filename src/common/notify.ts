/** Calls foreign code that is only informed of something: what it throws, or rejects with later, harms nobody. */
export function notify(call: () => unknown, onFailure: (error: unknown) => void = () => {}): void {
  try {
    const answer = call();
    if (isThenable(answer)) answer.then(undefined, onFailure);
  } catch (error) {
    onFailure(error);
  }
}

function isThenable(answer: unknown): answer is PromiseLike<unknown> {
  return typeof answer === 'object' && answer !== null && 'then' in answer && typeof answer.then === 'function';
}
