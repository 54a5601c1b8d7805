/**
 * The one catalogue of diagnostic codes. Codes are stable: never reused, never renumbered.
 * Families: RS1 YAML, RS2 shape, RS3 expressions, RS4 references and flow, RS5 handlers, RS6 flow tests.
 * Each has an entry in docs/reference/diagnostics.md and at least one case under test/.
 */
export const diagnosticCodes = {
  RS1001: 'The text is not well-formed YAML',
} as const;

export type DiagnosticCode = keyof typeof diagnosticCodes;
