import type { Verb } from './verbs.js';

/*
 * The words of other tools (GitHub Actions, Step Functions, Serverless Workflow, Kestra, Argo, Temporal, Ansible …)
 * and plain synonyms, with what the language says instead. Words are written as `folded` leaves them, so that one
 * entry stands for `continue-on-error`, `continueOnError` and `continue_on_error`.
 */

export function folded(word: string): string {
  return word.toLowerCase().replace(/[-_.\s]/g, '');
}

function split(words: string): string[] {
  return words.split(' ');
}

/** Our key, and words for it. A word counts where its shape has the key and the map does not use it yet. */
const keyWords: readonly (readonly [key: string, words: string])[] = [
  ['workflow', 'name id workflowname flow flowname'],
  ['revision', 'version rev'],
  ['id', 'name key ref taskreferencename stepid stepname taskid'],
  ['steps', 'tasks jobs stages activities states nodes actions do flow sequence pipeline body items'],
  ['do', 'steps then items body tasks actions iterate iterator itemprocessor block sequence handler'],
  ['with', 'args arguments arg params parameters inputs payload data body env vars variables options config request'],
  ['input', 'inputs params parameters args arguments with payload data'],
  ['constants', 'env vars variables consts const globals locals values settings config'],
  ['onError', 'catch catches rescue except errorhandler onexception errorhandling handleerrors fallback onfail'],
  ['onFailure', 'catch rescue except errorhandler onexception onfail fallback errors'],
  ['finally', 'ensure always cleanup afterwards onexit after defer teardown'],
  ['output', 'outputs result results return returns'],
  ['timeout', 'timeoutminutes timeoutseconds timeoutms timeoutmillis deadline ttl timelimit maxduration duration'],
  ['concurrency', 'maxconcurrency parallelism maxparallel maxparallelism concurrencylimit batchsize'],
  ['schedule', 'on triggers trigger cron schedules crontab events'],
  ['labels', 'tags annotations metadata'],
  ['description', 'title summary comment note notes doc documentation displayname label name'],
  ['when', 'if condition conditions only onlyif runif guard precondition test case cond match'],
  ['else', 'default otherwise'],
  ['retry', 'retries retrypolicy retrystrategy maxattempts maxretries'],
  ['compensate', 'compensation undo rollback revert compensatewith onrollback'],
  ['as', 'var variable itemname loopvar itemvar alias'],
  ['maxIterations', 'limit max maxcount maxturns maxloops times'],
  ['onTimeout', 'default fallback'],
  ['filter', 'match matches correlation'],
  ['remind', 'reminder reminders'],
  ['join', 'mode completion quorum require'],
  ['errors', 'error names name catch on match code codes errorequals exceptions types retryon only'],
  ['exceptErrors', 'except nonretryableerrors nonretryable nonretryableerrortypes ignore exclude'],
  ['attempts', 'max times count maxattempts maximumattempts limit retries maxretries'],
  ['delay', 'interval wait initialinterval initialdelay intervalseconds pause seconds every'],
  ['backoff', 'strategy type factor multiplier rate backoffrate backoffcoefficient exponential'],
  ['maxDelay', 'maxinterval maximuminterval cap maxdelayseconds'],
  ['maxDuration', 'maxelapsedtime timeout deadline'],
  ['cron', 'schedule expression crontab'],
  ['timezone', 'tz zone'],
  ['every', 'interval rate each period'],
  ['overlap', 'concurrencypolicy'],
  ['step', 'run uses call handler action task activity function invoke'],
  ['message', 'reason text cause'],
  ['details', 'data payload extra'],
  ['until', 'at time date timestamp'],
];

/** Keys of ours that a word may stand for, the likeliest first. */
export const keysMeant: ReadonlyMap<string, readonly string[]> = inverted(keyWords);

const order = 'steps run in the order of the file';
const oneVerb = 'what an item does is its verb: `step: <handler>` calls a handler';
const elsewhere = 'a handler runs in the process of the worker; where that runs is not said in the flow';
const ownOutput = 'give the item an `id`: its output is then `$steps.<id>`';

/** What to do where a word stands for no key of the place. */
export const adviceOn: ReadonlyMap<string, string> = new Map(
  [
    ['next goto transition end start startat', `${order}; choose with \`branch\``],
    ['needs dependson after requires runafter depends', `${order}; what may run at once stands in \`parallel\``],
    ['loop repeat', 'write `forEach`, `doWhile` or `doUntil`'],
    ['foreach each withitems matrix strategy for', 'write the item as `forEach: =<list>` with `do: [ … ]`'],
    ['while until', 'write the item as `doWhile` or `doUntil`, with `do: [ … ]`'],
    ['choices cases case switch default otherwise else elif', 'choose with `branch`, which ends with its `else`'],
    ['resultpath outputpath register saveas storeas resultselector outputs result results export', ownOutput],
    ['inputpath itemspath', 'say what it is given in `with`, by formulas such as `=$input.orderId`'],
    ['continueonerror allowfailure ignoreerrors ignoreerror', 'write `onError: [{ do: [] }]`'],
    ['unless skipif', 'write `when: =$not(…)`'],
    ['type kind resource uses run task handler call action activity function invoke', oneVerb],
    ['runson pool image container containers shell workingdirectory services permissions resources', elsewhere],
    ['secrets secret', 'a secret is given to a step: `with: { token: { $secret: NAME } }`'],
    ['idempotencykey', 'each call has a key of its own already; the handler is given it'],
    ['namespace', 'put it before the name: `workflow: <namespace>.<name>`'],
    ['use imports include extends', 'what several flows need is a workflow of its own, called by `subWorkflow`'],
    ['apiversion dsl', 'leave it out'],
    ['heartbeat heartbeatseconds', 'leave it out: a step has its `timeout`, and a handler may report that it is alive'],
    ['failfast', 'write `onBranchError: wait` where the other branches shall end'],
  ].flatMap(([words = '', advice = '']) => split(words).map((word): [string, string] => [word, advice])),
);

/** Words for verbs, as the key of an item. */
export const verbsMeant: ReadonlyMap<string, readonly Verb[]> = inverted<Verb>([
  ['step', 'uses run call handler action task activity function invoke execute exec service use resource'],
  ['forEach', 'for each loop iterate map withitems iterateover'],
  ['doWhile', 'while'],
  ['doUntil', 'until repeat'],
  ['sleep', 'wait delay pause timer waituntil'],
  ['waitFor', 'signal listen receive approval waitforsignal waitforevent event suspend await consume'],
  ['branch', 'if switch choice choose case cases choices elif else condition conditional match'],
  ['group', 'try block sequence do steps tasks then serial scope'],
  ['parallel', 'fork concurrent concurrently gather all branches'],
  ['subWorkflow', 'workflow subflow child childworkflow callworkflow runworkflow childflow flow'],
  ['complete', 'return end exit stop succeed success finish done'],
  ['fail', 'throw raise error abort'],
  ['rethrow', 'reraise'],
  ['set', 'assign var let const variables output vars pass transform setvars'],
  ['pivot', 'pointofnoreturn commit'],
]);

/** What other tools have a verb for and the language has not. */
export const verbAdvice: ReadonlyMap<string, string> = new Map(
  split(
    'log print echo debug emit publish notify http mail email sms slack webhook request sql query script shell command',
  ).map((word) => [word, 'a handler does that: write `step: <handler>`, and what it is given under `with`']),
);

/** The right form of each verb, for a word whose value shows that its author had another form in mind. */
export const formOf: Readonly<Record<Verb, string>> = {
  step: 'write `step: <handler>`, and what it is given under `with`',
  set: 'write `set: <value>`',
  group: 'write `group: [ … ]`; what handles its failure stands in its `onError`',
  branch: 'write `branch` with a list of arms, `- when: …` with `do: [ … ]`, and at last `- else: [ … ]`',
  parallel: 'write `parallel` with a map of branch name → list of items',
  forEach: 'write `forEach: =<list>` with `do: [ … ]`; the element is `$item`, or what `as` calls it',
  doWhile: 'write `doWhile: =<condition>` with `do: [ … ]`',
  doUntil: 'write `doUntil: =<condition>` with `do: [ … ]`',
  waitFor: 'write `waitFor: <signal>` with a `timeout`',
  sleep: 'write `sleep: 30s`, or `sleep: { until: =<time> }`',
  subWorkflow: 'write `subWorkflow: <workflow>`, and what it is given under `with`',
  pivot: 'write `pivot: <note>`',
  complete: 'write `complete: <output>`',
  fail: 'write `fail: <error name>`, with a `message`',
  rethrow: 'write `rethrow: <note>`',
};

/** Types that other tools give to a step as `type: …`. */
export const typesMeant: ReadonlyMap<string, readonly Verb[]> = inverted<Verb>([
  ['branch', 'choice switch if conditional decision exclusive'],
  ['forEach', 'map foreach loop iteration'],
  ['parallel', 'parallel fork forkjoin'],
  ['sleep', 'wait delay timer sleep'],
  ['waitFor', 'human approval event signal pause'],
  ['set', 'pass inject assign setvariable'],
  ['fail', 'fail terminate'],
  ['complete', 'succeed'],
  ['subWorkflow', 'subworkflow subflow workflow'],
  ['doWhile', 'dowhile while'],
  ['doUntil', 'until'],
]);

function inverted<Key extends string>(table: readonly (readonly [Key, string])[]): Map<string, Key[]> {
  const keys = new Map<string, Key[]>();
  for (const [key, words] of table) {
    for (const word of split(words)) keys.set(word, [...(keys.get(word) ?? []), key]);
  }
  return keys;
}
