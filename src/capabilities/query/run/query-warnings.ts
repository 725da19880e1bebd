import { conjunctsOf, referencesOf } from '../compile/conditions.ts'
import type { Statement } from '../compile/statement.ts'
import type { Aggregate } from '../language/check-aggregate.ts'
import type { Query } from '../language/check-query.ts'
import type { Filter, Test } from '../language/filter.ts'
import type { QueryLimits, StorePlan } from './contract.ts'

export type Warning = { code: string; detail: string }

const day_ns = 86_400_000_000_000n
const wide_days = 31n

/** What makes a query slower than it might be, or refused. */
export function warningsOf(
  query: Query | Aggregate,
  { plan, statement, limits }: { plan: StorePlan; statement: Statement; limits: QueryLimits },
): Warning[] {
  const tests = testsOf(query.where)
  return [
    ...wideWindow(query),
    ...filterWarnings(query, tests),
    ...('select' in query ? pageWarnings(query, statement) : []),
    ...overLimits(query, plan, limits),
  ]
}

function testsOf(where: Filter | undefined): Test[] {
  if (where === undefined) return []
  if (where.kind === 'test') return [where]
  return where.kind === 'not' ? testsOf(where.part) : where.parts.flatMap(testsOf)
}

function wideWindow({ window }: Query | Aggregate): Warning[] {
  const days = (window.to - window.from) / day_ns
  if (days <= wide_days) return []
  return [{ code: 'wide_window', detail: `the window is ${days} days: all of them are read` }]
}

function filterWarnings({ entity, where }: Query | Aggregate, tests: readonly Test[]): Warning[] {
  const warnings: Warning[] = []
  const add = (code: string, names: readonly string[], detail: string) => {
    if (names.length > 0)
      warnings.push({ code, detail: `${[...new Set(names)].join(', ')}: ${detail}` })
  }
  const conjuncts = conjunctsOf(where)
  const indexed = conjuncts.some((filter) =>
    referencesOf(filter).some(({ name, field }) => {
      const isKey = entity.identity.includes(name) && name !== entity.time
      return filter.kind === 'test' && (isKey || field.indexed === true)
    }),
  )
  if (conjuncts.length > 0 && !indexed) {
    add(
      'no_index',
      conjuncts.flatMap(referencesOf).map(({ name }) => name),
      'no index finds these',
    )
  }
  add('empty_text', names(tests.filter(isWithEmptyText)), emptyText)
  const contents = tests.filter(({ reference }) => reference.field.content)
  const searched = contents.filter(({ op }) => op === 'contains' || op === 'starts_with')
  add('contains_on_content', names(searched), 'the whole text of each record is read')
  const keys = tests.filter(({ reference }) => reference.map_key !== undefined)
  add('map_keys', names(keys), 'the whole map of each record is read')
  return warnings
}

const emptyText = 'no value is the empty text; use exists to find unknown values'

function isWithEmptyText({ reference, op, value }: Test): boolean {
  if (reference.field.type !== 'text') return false
  if (op === 'in') return Array.isArray(value) && value.includes('')
  return value === '' && (op === 'eq' || op === 'lt' || op === 'lte')
}

function names(tests: readonly Test[]): string[] {
  return tests.map(({ reference }) => reference.name)
}

function pageWarnings({ select, order_by }: Query, statement: Statement): Warning[] {
  const contents = select.filter(({ field }) => field.content).map(({ name }) => name)
  return [
    ...(contents.length > 0
      ? [{ code: 'content_columns', detail: `${contents.join(', ')}: large columns are read` }]
      : []),
    ...(order_by.length > 0 && !statement.stops_early
      ? [{ code: 'sorted', detail: 'all records of the window are read to find the first ones' }]
      : []),
  ]
}

function overLimits(
  { limit }: Query | Aggregate,
  { estimate }: StorePlan,
  limits: QueryLimits,
): Warning[] {
  const over = (given: number | null, most: number) => given !== null && given > most
  const codes = [
    ...(over(estimate.rows, limits.rows_read_max) ? ['query_rows_read_max'] : []),
    ...(over(estimate.bytes, limits.bytes_read_max) ? ['query_bytes_read_max'] : []),
    ...(over(limit, limits.result_rows_max) ? ['query_result_rows_max'] : []),
  ]
  return codes.map((name) => ({ code: 'over_limit', detail: `it would be refused: over ${name}` }))
}
