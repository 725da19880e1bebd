/** How much of the clients' data is kept. */
export const contentCaptures = ['full', 'metadata_only', 'off'] as const
type ContentCapture = (typeof contentCaptures)[number]

/** Reasons of the ledger for items that a policy does not keep. */
export const captureReasons = ['capture_off', 'sampled', 'content_not_kept'] as const

/**
 * Content that is never kept: the matches of `pattern` (RE2 syntax) in any text, or the values of
 * `keys` (in JSON at any depth, in attributes and in metadata; case-insensitive). Exactly one of
 * the two is set. `replacement` is stored instead.
 */
export type Mask = {
  name: string
  pattern: string | null
  keys: readonly string[] | null
  replacement: string
}

/** A project's stored rules. */
export type CaptureRules = {
  content: ContentCapture
  /** Share of traces that is kept, 0 to 1. */
  sample_rate: number
  masks: readonly Mask[]
}

/** Compiled masks. */
export type Masker = {
  /** Returns the replacement for the value of this key; undefined when the key is not masked. */
  replacementOf(key: string): string | undefined
  /** Replaces the matches of all patterns in a text. */
  withoutMatches(text: string): string
}

/** A project's compiled rules. */
export type CapturePolicy = {
  readonly content: ContentCapture
  readonly sample_rate: number
  /** Undefined when there are no masks. */
  readonly masker: Masker | undefined
  /** True when records are kept unchanged. */
  readonly keeps_all: boolean
  /** Set while the rules of the project could not be read. */
  readonly is_unknown?: true
}
