import { conjunctsOf, referencesOf } from '../compile/conditions.ts'
import type { Statement } from '../compile/statement.ts'
import type { Aggregate } from '../language/aggregate-query.ts'
import type { Filter, Test } from '../language/filter.ts'
import type { Query } from '../language/page-query.ts'
import type { QueryLimits, StorePlan } from './contract.ts'

type Warning = { code: string; detail: string }

const day_ns = 86_400_000_000_000n

const wide_days = 31n

/** Finds properties of a query that make it slow, or over a limit. */
export function findWarnings(
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
  return [{ code: 'wide_window', detail: `the window is ${days} days, and all of it is read` }]
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
      'no index covers these fields',
    )
  }
  add('empty_text', names(tests.filter(isWithEmptyText)), emptyText)
  const contents = tests.filter(({ reference }) => reference.field.content)
  const searched = contents.filter(({ op }) => op === 'contains' || op === 'starts_with')
  add('contains_on_content', names(searched), 'reads the whole text of each record')
  const keys = tests.filter(({ reference }) => reference.map_key !== undefined)
  add('map_keys', names(keys), 'reads the whole map of each record')
  return warnings
}

const emptyText = 'no value is the empty text; find unknown values with exists'

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
      ? [{ code: 'content_columns', detail: `${contents.join(', ')}: reads large columns` }]
      : []),
    ...(order_by.length > 0 && !statement.stops_early
      ? [{ code: 'sorted', detail: 'reads all records of the window to find the first ones' }]
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
  return codes.map((name) => ({
    code: 'over_limit',
    detail: `the query would be refused: it exceeds ${name}`,
  }))
}
