import type { AggregateQuery, FindingKind } from '../../api/schema.gen.d.ts'
import type { Search } from '../../browser/search.ts'
import { rangeOf } from '../../browser/time-range.ts'
import { findingKinds } from '../shared/finding-kinds.ts'
import { type SeverityName, severities } from '../shared/severities.ts'

/** Fields by which the chart is stacked. */
export const groupings = [
  ['kind', 'By kind'],
  ['type', 'By type'],
  ['severity', 'By severity'],
  ['detector', 'By detector'],
] as const

/** The filters of the screen, as the URL has them. */
export type FindingsFilter = {
  from_ms: number
  to_ms: number
  by: (typeof groupings)[number][0]
  kind: FindingKind | undefined
  type: string | undefined
  severity: SeverityName | undefined
}

/** Reads the filters of a URL. Values that the API would refuse are left out. */
export function filterOf(search: Search, now_ms: number): FindingsFilter {
  const { from = '', to } = rangeOf(search, now_ms)
  const minute_ms = 60_000
  // The end of an open range is a little later: rows of this minute count, and clocks differ.
  const end_ms =
    to === undefined ? (Math.floor(now_ms / minute_ms) + 1) * minute_ms : Date.parse(to)
  const from_ms = Date.parse(from)
  return {
    from_ms: Number.isNaN(from_ms)
      ? end_ms - 7 * 86_400_000
      : Math.min(from_ms, end_ms - minute_ms),
    to_ms: end_ms,
    by: groupings.find(([by]) => by === search['by'])?.[0] ?? 'kind',
    kind: findingKinds.find((kind) => kind === search['kind']),
    type:
      search['type'] && /^[a-z][a-z0-9_]{0,63}$/.test(search['type']) ? search['type'] : undefined,
    severity: severities.find((severity) => severity === search['severity']),
  }
}

type Where = NonNullable<AggregateQuery['where']>

/** Returns the condition of the query language. Withdrawn findings were disproved, so they are out. */
export function whereOf({ kind, type, severity }: FindingsFilter): Where {
  const least = severity === undefined ? 1 : severities.length - severities.indexOf(severity)
  return {
    and: [
      { field: 'state', op: 'ne', value: 'withdrawn' },
      ...(kind === undefined ? [] : [{ field: 'kind', op: 'eq' as const, value: kind }]),
      ...(type === undefined ? [] : [{ field: 'type', op: 'eq' as const, value: type }]),
      ...(least === 1 ? [] : [{ field: 'severity_number', op: 'gte' as const, value: least }]),
    ],
  }
}

/** Returns the window of the query language. */
export function windowOf({ from_ms, to_ms }: FindingsFilter) {
  return { from: new Date(from_ms).toISOString(), to: new Date(to_ms).toISOString() }
}
