/** How much of what clients send is kept. */
export const contentCaptures = ['full', 'metadata_only', 'off'] as const
export type ContentCapture = (typeof contentCaptures)[number]

/** The reasons under which the ledger counts items that a policy keeps out. */
export const captureReasons = ['capture_off', 'sampled', 'content_not_kept'] as const

/**
 * Something that is never kept. With `pattern` (RE2 syntax), what it matches in any text; with
 * `keys`, the values of such keys (in JSON at any depth, of attributes and of metadata; upper and
 * lower case are the same). Exactly one of the two is set. `replacement` stands in its place.
 */
export type Mask = {
  name: string
  pattern: string | null
  keys: readonly string[] | null
  replacement: string
}

/** A project's rules as they are stored. */
export type CaptureRules = {
  content: ContentCapture
  /** The share of traces that is kept, 0 to 1. */
  sample_rate: number
  masks: readonly Mask[]
}

/** Masks, ready to run. */
export type Masker = {
  /** What stands for the value of this key; undefined when the key is not masked. */
  replacementOf(key: string): string | undefined
  /** The text without what the patterns match. */
  withoutMatches(text: string): string
}

/** A project's rules, ready to run. */
export type CapturePolicy = {
  readonly content: ContentCapture
  readonly sample_rate: number
  /** Undefined when there are no masks. */
  readonly masker: Masker | undefined
  /** True when nothing is to be done: records pass as they are. */
  readonly keeps_all: boolean
}
