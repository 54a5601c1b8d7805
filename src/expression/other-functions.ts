/*
 * Functions and methods of other languages, with how the same is written here: `{0}` is what the method is called on, or
 * a function's first argument; `{1}`, `{2}` are the arguments after it.
 */

const same: readonly (readonly [form: string, words: string])[] = [
  ['$uppercase({0})', 'toUpperCase toUpper upper upcase ucase toLocaleUpperCase'],
  ['$lowercase({0})', 'toLowerCase toLower lower downcase lcase toLocaleLowerCase'],
  ['$trim({0})', 'strip trimStart trimEnd ltrim rtrim lstrip rstrip'],
  ['$contains({0}, {1})` for a text, `{1} in {0}` for a list', 'includes has include'],
  ['$substring({0}, 0, $length({1})) = {1}', 'startsWith starts_with startswith beginsWith hasPrefix'],
  ['$substring({0}, -$length({1})) = {1}', 'endsWith ends_with endswith hasSuffix'],
  ['$contains({0}, {1})', 'matches test search indexOf strContains'],
  ['$substring({0}, {1}, {2})', 'substr slice mid'],
  ['$substring({0}, 0, {1})', 'left'],
  ['$count({0})` for a list, `$length({0})` for a text', 'size len length'],
  ['{0}[0]', 'first head'],
  ['{0}[-1]', 'last tail'],
  ['{0}[{1}]', 'at elementAt nth'],
  ['$append({0}, {1})', 'push concatList add extend'],
  ['{0} & {1}', 'concat strcat joinText'],
  ['$filter({0}, {1})[0]', 'find detect'],
  ['$exists($filter({0}, {1}))', 'some any exists_one'],
  ['$count($filter({0}, {1})) = $count({0})', 'every all'],
  ['$map({0}, {1})', 'flatMap collect'],
  ['$filter({0}, {1})', 'select where'],
  ['$reduce({0}, {1}, {2})', 'fold inject'],
  ['$string({0})', 'toString str stringify to_json toJson tojson json toJSONString text'],
  ['$number({0})', 'parseInt parseFloat int float toNumber toInt num asNumber Number'],
  ['$string({0})', 'String'],
  ['$boolean({0})', 'Boolean bool toBoolean'],
  ['$round({0}, {1})', 'toFixed'],
  ['{0}.*', 'values'],
  ['$count({0}) = 0', 'isEmpty empty is_empty'],
  ['$lookup({0}, {1})', 'get getOrNull'],
  ['{0} = {1}', 'equals eq equal'],
  ['{0} ?? {1}', 'default coalesce ifNull nvl orElse getOrElse ifnull or_else defaultTo'],
  ['{0} = null', 'isNull is_null'],
  ['$exists({0})', 'defined isDefined isSet is_set isPresent present hasValue exist'],
  ['{0} ? {1} : {2}', 'if iif iff cond when'],
  ['$average({0})', 'avg mean'],
  ['$ceil({0})', 'ceiling'],
  ['$power({0}, {1})', 'pow'],
  ['$type({0})', 'typeof typeOf'],
  ['$distinct({0})', 'unique uniq dedupe Set'],
  ['[{0}..{1}]', 'range'],
  ['$now()', 'utcnow utcNow today currentDate currentTime getdate timestamp Date'],
  ['$addDuration({0}, "1d")', 'addDays dateAdd date_add addHours addMinutes plusDays addTime plus'],
  ['$fromMillis({0})', 'toISOString toIsoString'],
  ['$fromMillis($toMillis({0}), {1})', 'formatDate dateFormat format_date'],
  ['$toMillis({0})', 'getTime parseDate toDate'],
  ['$base64encode({0})', 'btoa toBase64 base64'],
  ['$base64decode({0})', 'atob fromBase64'],
  ['$encodeUrlComponent({0})', 'encodeURIComponent urlencode'],
  ['$replace({0}, {1}, {2})', 'replaceAll gsub sub'],
  ['$sort({0})', 'sorted sortBy orderBy order_by'],
  ['$merge([{0}, {1}])', 'assign mergeObjects'],
  ['$match({0}, {1})', 'matchAll regexMatch'],
];

/** Those of spreadsheets, in English and German; where they have a namesake above, it is called like that in small letters. */
const spreadsheet: readonly (readonly [form: string, words: string])[] = [
  ['{0} ? {1} : {2}', 'WENN'],
  ['{0} and {1}', 'AND UND'],
  ['{0} or {1}', 'OR ODER'],
  ['$not({0})', 'NICHT'],
  ['{0} ?? {1}', 'IFERROR IFNA WENNFEHLER WENNNV'],
  ['$not($exists({0}))', 'ISBLANK ISTLEER ISNA'],
  ['{0} & {1}', 'CONCATENATE VERKETTEN'],
  ['{0} % {1}', 'MOD REST'],
  ['$length({0})', 'LEN'],
  ['$sum({0})', 'SUMME'],
  ['$average({0})', 'MITTELWERT'],
  ['$count({0})', 'COUNTA ANZAHL ANZAHL2'],
  ['$round({0}, {1})', 'RUNDEN'],
  ['$uppercase({0})', 'GROSS'],
  ['$lowercase({0})', 'KLEIN'],
  ['$trim({0})', 'GLÄTTEN'],
  ['$now()', 'HEUTE JETZT'],
];

const unavailable: readonly (readonly [help: string, words: string])[] = [
  ['let a handler make it: a formula gives the same value whenever it is evaluated again', 'uuid guid newGuid UUID'],
  ['let a handler read the text as JSON', 'fromJson fromJSON parseJson from_json'],
  [
    'formulas cannot read the environment: pass the value as input; a secret is `{ $secret: NAME }` in `with`',
    'env getenv secret secrets',
  ],
  ['join texts by `&`: `"Order " & $input.orderId`', 'format printf sprintf interpolate'],
];

const forms: ReadonlyMap<string, string> = byWord([...same, ...spreadsheet]);
const reasons: ReadonlyMap<string, string> = byWord(unavailable);

/** Ours take one list where spreadsheets take any number of values. */
const ofOneList: ReadonlySet<string> = new Set(['sum', 'max', 'min', 'average', 'count']);

/** Methods of JavaScript's global objects. */
const globals: ReadonlyMap<string, string> = new Map([
  ['Math.ceil', '$ceil({0})'],
  ['Math.pow', '$power({0}, {1})'],
  ['Math.max', '$max([{0}, {1}])'],
  ['Math.min', '$min([{0}, {1}])'],
  ['JSON.stringify', '$string({0})'],
  ['Object.values', '{0}.*'],
  ['Object.assign', '$merge([{0}, {1}])'],
  ['Array.isArray', '$type({0}) = "array"'],
  ['Date.now', '$millis()'],
  ['Date.parse', '$toMillis({0})'],
]);

export const globalObjects: ReadonlySet<string> = new Set(
  'Math JSON Object Array Date String Number Boolean Promise console process datetime moment re os sys'.split(' '),
);

/** Variables of other tools, with ours. */
export const otherVariables: ReadonlyMap<string, string> = new Map([
  ...'inputs params parameters args payload json body trigger'
    .split(' ')
    .map((word): [string, string] => [word, 'input']),
  ...'vars variables const consts globals locals'.split(' ').map((word): [string, string] => [word, 'constants']),
  ...'step outputs tasks results nodes'.split(' ').map((word): [string, string] => [word, 'steps']),
  ...'it each current element loop row value'.split(' ').map((word): [string, string] => [word, 'item']),
  ...'output response'.split(' ').map((word): [string, string] => [word, 'result']),
  ...'execution workflowRun'.split(' ').map((word): [string, string] => [word, 'run']),
  ...'err exception e failure'.split(' ').map((word): [string, string] => [word, 'error']),
  ...'flow'.split(' ').map((word): [string, string] => [word, 'workflow']),
]);

/**
 * How to write a call that another language would have. `args`: their texts, first that on which the method is called.
 * Undefined where nothing is known of it.
 */
export function ownForm(
  name: string,
  args: readonly string[],
  functions: ReadonlySet<string>,
  object?: string,
): string | undefined {
  const reason = name === 'parse' && object === 'JSON' ? reasons.get('fromJson') : reasons.get(name);
  if (reason !== undefined) return reason;
  const known = object === undefined ? undefined : globals.get(`${object}.${name}`);
  if (/^concat(enate)?$/i.test(name) && args.length > 1) return `write \`${args.join(' & ')}\``;
  const [list = '', condition] = args;
  if (name === 'FILTER' && condition !== undefined && !condition.startsWith('function')) {
    return `write \`[${list}[${condition.replaceAll(`${list}.`, '')}]]\``;
  }
  const small = name === name.toUpperCase() ? name.toLowerCase() : name;
  const form = known ?? forms.get(name) ?? forms.get(small);
  // A form for a list and one for a text close their own backquotes.
  if (form !== undefined) return `write \`${filled(form, args)}${form.includes('`') ? '' : '`'}`;
  if (!functions.has(small)) return undefined;
  const given = args.join(', ');
  return `write \`$${small}(${ofOneList.has(small) && args.length > 1 ? `[${given}]` : given})\``;
}

function filled(form: string, args: readonly string[]): string {
  return form
    .replace(/, \{(\d)\}/g, (whole, index: string) => (Number(index) < args.length || index === '1' ? whole : ''))
    .replace(/\{(\d)\}/g, (_, index: string) => args[Number(index)] ?? '…');
}

function byWord(table: readonly (readonly [string, string])[]): Map<string, string> {
  return new Map(table.flatMap(([form, words]) => words.split(' ').map((word): [string, string] => [word, form])));
}
