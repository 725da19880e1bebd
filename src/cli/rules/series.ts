/** A value of a series at a point; null without rows. */
export type PointValue = number | null

/** Thrown for a text that is not a series or no values; the message says what was expected. */
export class NotationError extends Error {
  override readonly name = 'NotationError'
}

/** Maximum points of a series: five weeks, one point a minute. */
const points_max = 50_400

const number = String.raw`(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`
const blank = /^_(?:x(\d+))?$/
const stale = /^stale(?:x(\d+))?$/
const single = new RegExp(`^[+-]?${number}$`)
const repeated = new RegExp(`^([+-]?${number})([+-]${number})?x(\\d+)$`)

/**
 * Reads values in promtool's notation: `axn` is n + 1 times a, `a+bxn` and `a-bxn` count from a in n
 * steps of b, `_` and `_xn` are missing points, `stale` and `stalexn` (n + 1 points) are missing, too.
 * Source: https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/#series
 */
export function parseValues(text: string): PointValue[] {
  const values: PointValue[] = []
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const { first, step, count } = parseWord(word)
    if (values.length + count > points_max) {
      throw new NotationError(`expected at most ${points_max} points`)
    }
    let value = first
    for (let at = 0; at < count; at += 1) {
      values.push(value)
      // promtool adds step by step as well, with the same error of binary fractions.
      value = value === null ? null : value + step
    }
  }
  return values
}

/** `count` points that begin with `first`, `step` apart. */
type Word = { first: PointValue; step: number; count: number }

function parseWord(word: string): Word {
  const gap = blank.exec(word)
  if (gap !== null) return { first: null, step: 0, count: Number(gap[1] ?? 1) }
  const end = stale.exec(word)
  if (end !== null) return { first: null, step: 0, count: Number(end[1] ?? 0) + 1 }
  if (single.test(word)) return { first: finite(word, word), step: 0, count: 1 }
  const [, first, step = '0', times] = repeated.exec(word) ?? []
  if (first === undefined) {
    throw new NotationError(
      `got ${JSON.stringify(word)}, expected numbers, \`_\`, \`stale\`, \`axn\`, \`a+bxn\` or \`a-bxn\``,
    )
  }
  return { first: finite(first, word), step: finite(step, word), count: Number(times) + 1 }
}

function finite(text: string, word: string): number {
  const value = Number(text)
  if (Number.isFinite(value)) return value
  throw new NotationError(`got ${JSON.stringify(word)}, expected finite numbers`)
}

/** The name and the labels of a series. */
export type SeriesName = { name: string; labels: Readonly<Record<string, string>> }

const seriesName = /^\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{([\s\S]*)\})?\s*$/
const label =
  /^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*("(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|`[^`]*`)\s*(?:,|$)/

/** Reads a series such as `error_rate{task_name="checkout"}`, with the quotes of promtool. */
export function parseSeriesName(text: string): SeriesName {
  const [, name, braces = ''] = seriesName.exec(text) ?? []
  if (name === undefined) {
    throw new NotationError(
      `got ${JSON.stringify(text)}, expected a series such as \`error_rate{task_name="checkout"}\``,
    )
  }
  const labels = new Map<string, string>()
  let rest = braces
  while (rest.trim() !== '') {
    const [whole = '', key = '', quoted = ''] = label.exec(rest) ?? []
    if (whole === '') {
      throw new NotationError(
        `got ${JSON.stringify(rest.trim())}, expected labels such as \`task_name="checkout"\``,
      )
    }
    if (labels.has(key)) throw new NotationError(`got the label \`${key}\` twice`)
    labels.set(key, unquote(quoted))
    rest = rest.slice(whole.length)
  }
  return { name, labels: Object.fromEntries(labels) }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

function unquote(quoted: string): string {
  const inner = quoted.slice(1, -1)
  if (quoted.startsWith('`')) return inner
  return inner.replaceAll(/\\([\s\S])/g, (_match, character: string) => {
    return escapes[character] ?? character
  })
}
