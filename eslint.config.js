import tseslint from 'typescript-eslint';

/**
 * The folders of `src` in the order of the data flow. A folder may import from those before it,
 * through their `index.ts` alone; `docs/architecture.md` draws the picture.
 */
const layers = [
  'common',
  'syntax',
  'definition',
  'expression',
  'handlers',
  'check',
  'interpreter',
  'storage',
  'engine',
  'testing',
  'cli',
];

/** Pairs that the order would allow but that must not know each other. */
const strangers = { storage: ['syntax', 'definition', 'expression', 'handlers', 'check', 'interpreter'] };

/**
 * The document of flow tests is checked without an engine: `testing/flow-tests/` comes right after `check` and has an
 * index of its own, which leaves the rest of `testing/` unloaded.
 */
const flowTests = {
  files: ['src/testing/flow-tests/**/*.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          { regex: '^\\.\\./(?!\\.\\.)', message: 'testing/flow-tests/ knows nothing of the rest of testing/.' },
          {
            regex: `^(\\.\\./)+(${layers.slice(layers.indexOf('check') + 1).join('|')})(/|$)`,
            message: 'testing/flow-tests/ comes right after check/ in the data flow (see eslint.config.js).',
          },
          {
            regex: `^(\\.\\./)+(${layers.join('|')})/(?!index\\.js$)`,
            message: 'Import another folder through its index.js, which says what it offers.',
          },
        ],
      },
    ],
  },
};

const direction = layers.map((folder, place) => {
  const forbidden = [...layers.slice(place + 1), ...(strangers[folder] ?? [])];
  return {
    files: [`src/${folder}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            ...(forbidden.length === 0
              ? []
              : [
                  {
                    regex: `^(\\.\\./)+(${forbidden.join('|')})(/|$)`,
                    message: `${folder}/ comes before that folder in the data flow (see eslint.config.js).`,
                  },
                ]),
            {
              regex: `^(\\.\\./)+(${layers.filter((other) => other !== folder).join('|')})/(?!((flow-tests|flow-runner)/)?index\\.js$)`,
              message: 'Import another folder through its index.js, which says what it offers.',
            },
          ],
        },
      ],
    },
  };
});

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'out/', 'src/**/document.generated.ts'] },
  tseslint.configs.recommended,
  {
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    // What must be injected: a module that reads time or randomness by itself cannot be replayed or tested.
    files: ['src/**/*.ts'],
    ignores: ['src/common/clock.ts', 'src/cli/**', 'src/testing/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Take the injected Clock.' },
        { object: 'performance', property: 'now', message: 'Take the injected Clock.' },
        { object: 'Math', property: 'random', message: 'Take the injected source of randomness.' },
      ],
    },
  },
  ...direction,
  flowTests,
);
