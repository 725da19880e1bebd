/** One value of a series at one slot, or a slot without rows. */
export type SeriesValue = number | undefined

const step = /^(-?\d+(?:\.\d+)?)(?:([+-]\d+(?:\.\d+)?))?x(\d+)$/
const missing = /^_(?:x(\d+))?$/

/**
 * Reads a series in promtool's notation: `1 2 _` are single slots, `axn` is n + 1 times a,
 * `a+bxn` and `a-bxn` count from a in n steps of b, and `_xn` is n slots without rows.
 * Source: https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/#series
 */
export function parseSeries(text: string): SeriesValue[] {
  return text
    .trim()
    .split(/\s+/)
    .flatMap((word) => parseWord(word))
}

function parseWord(word: string): SeriesValue[] {
  const gap = missing.exec(word)
  if (gap !== null) return new Array<SeriesValue>(Number(gap[1] ?? 1)).fill(undefined)
  const steps = step.exec(word)
  if (steps !== null) {
    const [, first, by, count] = steps
    const values = Array.from({ length: Number(count) + 1 }, (_, index) => index)
    return values.map((index) => Number(first) + Number(by ?? 0) * index)
  }
  const value = Number(word)
  if (word === '' || !Number.isFinite(value)) {
    throw new Error(`A series holds numbers, _, axn and a+bxn; found ${JSON.stringify(word)}.`)
  }
  return [value]
}
