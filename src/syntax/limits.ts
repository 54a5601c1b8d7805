/** What one file may unfold into. */
export const limits = {
  /** Of the text, and of the text with its aliases written out. */
  bytes: 1024 * 1024,
  /** Collections inside collections. */
  depth: 64,
  /** Copies that aliases make, aliases inside what they name included. */
  aliasExpansions: 100,
  /** Mistakes that are told; one that makes more is not read to its end. */
  diagnostics: 500,
} as const;
