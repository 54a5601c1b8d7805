/**
 * Does an SPDX licence expression allow use under one of `allowed`? `MIT OR GPL-3.0` does where MIT
 * is allowed, `MIT AND GPL-3.0` only where both are. An exception belongs to its licence
 * (`Apache-2.0 WITH LLVM-exception` must be listed as such). What is no such expression does not.
 */
export function isAllowedLicence(expression: string, allowed: ReadonlySet<string>): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let next = 0;

  const anyOf = (): boolean => {
    let result = allOf();
    while (tokens[next] === 'OR') {
      next += 1;
      // Not `||`: the right side must be read even where the left one suffices.
      result = [allOf(), result].includes(true);
    }
    return result;
  };
  const allOf = (): boolean => {
    let result = single();
    while (tokens[next] === 'AND') {
      next += 1;
      result = ![single(), result].includes(false);
    }
    return result;
  };
  const single = (): boolean => {
    const token = tokens[next];
    next += 1;
    if (token === '(') {
      const result = anyOf();
      const closed = tokens[next] === ')';
      next += 1;
      return result && closed;
    }
    if (token === undefined || token === ')') return false;
    if (tokens[next] !== 'WITH') return allowed.has(token);
    const exception = tokens[next + 1] ?? '';
    next += 2;
    return allowed.has(`${token} WITH ${exception}`);
  };

  const result = anyOf();
  return result && next === tokens.length;
}
