import type { DiagnosticCode, Source } from '../../syntax/index.js';
import type { Enclosure, FlowItem } from '../flow-model.js';
import type { Sight } from './sight.js';

/** What is said of a read that may find nothing, or finds nothing for certain. */
export interface Remark {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly help: string;
}

/** Undefined where there is nothing to be said. */
export function remarkOn(sight: Sight, item: FlowItem, id: string, source: Source): Remark | undefined {
  switch (sight.kind) {
    case 'certain':
      return undefined;
    case 'hidden':
      return hidden(sight.by, id);
    case 'silent':
      return silent(item, id);
    case 'never':
      return never(sight, id);
    case 'maybe':
      return {
        code: 'RS4011',
        message: `\`${id}\` may have no output here: ${doubt(sight, item, source)}`,
        help: helpFor(sight, id),
      };
  }
}

function hidden({ item, kind, name }: Enclosure, id: string): Remark {
  if (kind === 'element') {
    const loop = item.id?.value;
    return {
      code: 'RS4003',
      message: `\`${id}\` runs once for each element, so it cannot be read outside its \`forEach\``,
      help: loop === undefined ? 'give the `forEach` an `id` and read its list' : `read the list: \`$steps.${loop}\``,
    };
  }
  return {
    code: 'RS4003',
    message: `\`${id}\` is in the branch \`${name}\`, which runs at the same time as this one`,
    help: 'read it after the `parallel`, or put both into one branch',
  };
}

function silent({ verb, handlers }: FlowItem, id: string): Remark {
  const isPlain = verb === 'sleep' || verb === 'pivot' || verb === 'fail' || verb === 'complete' || verb === 'rethrow';
  if (isPlain && handlers.length === 0) {
    return {
      code: 'RS4012',
      message: `\`${id}\` is a \`${verb}\`, which gives no output`,
      help: 'read a step or a `set` instead',
    };
  }
  return {
    code: 'RS4012',
    message: `nothing in \`${id}\` gives an output, so it has none itself`,
    help: 'the output of a list is that of its last item that gave one: end it with a `set`',
  };
}

function never({ why }: Extract<Sight, { kind: 'never' }>, id: string): Remark {
  const code = 'RS4004';
  switch (why) {
    case 'later':
      return {
        code,
        message: `\`${id}\` comes after this place, so it cannot have run`,
        help: 'steps run in the order of the file: move one of the two',
      };
    case 'itself':
      return {
        code,
        message: `\`${id}\` has no output before it is over`,
        help: 'read an item that comes before this place',
      };
    case 'around':
      return {
        code,
        message: `\`${id}\` is inside this item, so it cannot have run yet`,
        help: 'read it after this item, or inside it',
      };
    case 'other-arm':
      return {
        code,
        message: `\`${id}\` is in another arm: where this is reached it cannot have run`,
        help: 'read it after the whole item, with a default',
      };
    case 'failed-parallel':
      return {
        code,
        message: `\`${id}\` has no output here: a \`parallel\` that fails leaves none of its branches' outputs`,
        help: 'handle the error inside the branch, or look at `$error`',
      };
    case 'unreachable':
      return {
        code,
        message: `\`${id}\` is never reached, so it has no output`,
        help: 'remove it, or what ends the flow before it',
      };
    case 'way-ends':
      return {
        code,
        message: `\`${id}\` cannot have run here: where it runs the flow never comes to this place`,
        help: 'read an item that has run here, or let that way go on',
      };
  }
}

function doubt({ why, about }: Extract<Sight, { kind: 'maybe' }>, item: FlowItem, source: Source): string {
  const line = source.position(about.node.range.start).line;
  const around = `the \`${about.verb}\` in line ${line}`;
  switch (why) {
    case 'skipped':
      return about === item
        ? 'it is skipped unless its `when` holds'
        : `${around} is skipped unless its \`when\` holds`;
    case 'first-turn':
      return 'in the first turn it has not run yet';
    case 'no-turn':
      return `${around} may have no turn at all`;
    case 'other-arm':
      return `${around} may take another arm`;
    case 'handled-error':
      return `the \`onError\` of ${around} may have handled a failure that came before it`;
    case 'only-on-error':
      return `it runs only if ${around} fails`;
    case 'failed-before':
      return `${around} may have failed before it`;
    case 'lost-branch':
      return `${around} goes on without its branch if others complete first`;
    case 'no-output':
      return 'there are ways through it that give none';
    case 'run-ended':
      return 'the run may have ended before it';
  }
}

function helpFor({ why }: Extract<Sight, { kind: 'maybe' }>, id: string): string {
  const fallback = `give a default (\`$steps.${id} ?? …\`)`;
  if (why === 'first-turn') return `${fallback} for the first turn`;
  if (why === 'skipped') return `${fallback}, ask \`$exists($steps.${id})\` first, or give this item the same \`when\``;
  return `${fallback}, or ask \`$exists($steps.${id})\` first`;
}
