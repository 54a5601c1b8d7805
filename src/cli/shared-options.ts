/** Options that many commands share: what to give to commander's `option`. */
export const sharedOptions = {
  json: ['--json', 'print JSON', false],
  database: ['--db <path>', 'database of the runs (default: $RUNSHEET_DB, else .runsheet/runs.db)'],
  handlers: ['--handlers <path>', 'folder or file of the handlers (default: handlers)'],
  definitions: ['--definitions <folder>', 'folder of the flows (default: definitions)'],
} as const;
