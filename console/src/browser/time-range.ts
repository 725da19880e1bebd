import type { Search } from './search.ts'

/** A range of time in URLs: `from` and `to` as `-24h`, as an instant, or empty for now. */
export type TimeRange = { from: string; to: string }

/** Ranges that the frame offers, by their `from`. */
export const ranges = [
  ['-15m', 'Last 15 minutes'],
  ['-1h', 'Last hour'],
  ['-24h', 'Last 24 hours'],
  ['-7d', 'Last 7 days'],
  ['-30d', 'Last 30 days'],
] as const

export const defaultFrom = '-7d'

const units_ms = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Resolves `-24h` or an instant to an instant; undefined for an empty or unreadable text. An instant
 * without a zone is UTC, as in the API, so that a link means the same to all who open it.
 */
export function resolveInstant(text: string | undefined, now_ms: number): string | undefined {
  if (text === undefined || text === '') return undefined
  const [, count, unit] = /^-(\d{1,5})([mhd])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) {
    const ago_ms = Number(count) * units_ms[unit as keyof typeof units_ms]
    return new Date(now_ms - ago_ms).toISOString()
  }
  const at_ms = Date.parse(/T[\d:.]+$/.test(text) ? `${text}Z` : text)
  return Number.isNaN(at_ms) ? undefined : new Date(at_ms).toISOString()
}

/**
 * Returns the range of a URL as parameters of the API. A relative start is rounded down to a
 * minute, so that a screen that renders again asks for the same rows. The end is open if it is
 * not given: the clock of the browser may be wrong, and new rows must not be cut off.
 */
export function rangeOf(search: Search, now_ms: number): { from?: string; to?: string } {
  const minute_ms = Math.floor(now_ms / 60_000) * 60_000
  const from = resolveInstant(search['from'] ?? defaultFrom, minute_ms)
  const to = resolveInstant(search['to'], minute_ms)
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

/** Returns a URL whose relative times are absolute, for a link that others open later. */
export function absoluteUrl(href: string, now_ms: number): string {
  const url = new URL(href)
  const from = url.searchParams.get('from') ?? defaultFrom
  const start = resolveInstant(from, now_ms)
  if (start !== undefined) url.searchParams.set('from', start)
  const to = resolveInstant(url.searchParams.get('to') ?? undefined, now_ms)
  url.searchParams.set('to', to ?? new Date(now_ms).toISOString())
  return url.href
}
