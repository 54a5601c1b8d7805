/**
 * The one catalogue of diagnostic codes. Codes are stable: never reused, never renumbered.
 * Families: RS1 YAML, RS2 shape, RS3 expressions, RS4 references and flow, RS5 handlers, RS6 flow tests.
 * Each has an entry in docs/reference/diagnostics.md and at least one case under test/.
 */
export const diagnosticCodes = {
  RS1001: 'The text is not well-formed YAML',
  RS1002: 'The file is empty',
  RS1003: 'The file holds more than one document',
  RS1004: 'The file, its aliases written out, is larger than 1 MiB',
  RS1005: 'Values are nested more than 64 deep',
  RS1006: 'The file is not UTF-8, or holds text that is not Unicode',
  RS1007: 'Directives (`%YAML`, `%TAG`) are not part of the language',
  RS1008: 'Explicit tags (`!name`) are not part of the language',
  RS1009: 'A key stands twice in one map',
  RS1010: 'Merge keys (`<<`) are not part of the language',
  RS1011: 'A key is not text',
  RS1012: 'A key has a name that every JavaScript object already has',
  RS1013: 'An integer is too large to be kept exactly',
  RS1014: 'A number is not finite',
  RS1015: 'An alias names no anchor before it, or its own surroundings',
  RS1016: 'Aliases expand to more than 100 copies',
  RS1017: 'A tab is used as indentation',
  RS1018: 'Unquoted text holds `: `, which starts a map',
  RS1019: 'An unquoted formula inside `{ … }` or `[ … ]` is cut up by its own commas and brackets',
  RS1030: 'An unquoted word that other YAML readers take for true or false',
  RS1031: 'An unquoted number that is not printed as it was written',
  RS1032: 'A comment cuts off an unquoted formula',
  RS1033: 'A key inside `{ … }` has no value',
} as const;

export type DiagnosticCode = keyof typeof diagnosticCodes;
