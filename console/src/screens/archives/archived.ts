import type { ArchiveRun } from '../../api/schema.gen.d.ts'

/** A span of time that verified archives contain whole. */
export type Span = { from: string; to: string }

const kinds_all = 5

/**
 * Returns the spans that verified archives contain whole, oldest first; spans that touch are one.
 * An archive with a filter, or of some kinds only, contains no span whole.
 */
export function archivedSpans(
  runs: readonly Pick<ArchiveRun, 'state' | 'window' | 'kinds' | 'where' | 'result'>[],
): Span[] {
  const whole = runs
    .filter(({ state, where, kinds, result }) => {
      return (
        state === 'succeeded' && result !== null && where === null && kinds.length === kinds_all
      )
    })
    .map(({ window }) => ({ from: Date.parse(window.from), to: Date.parse(window.to) }))
    .sort((one, other) => one.from - other.from)
  const spans: { from: number; to: number }[] = []
  for (const { from, to } of whole) {
    const last = spans.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else spans.push({ from, to })
  }
  return spans.map(({ from, to }) => ({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  }))
}
