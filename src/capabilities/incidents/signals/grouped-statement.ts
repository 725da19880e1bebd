import { parseProjectId } from '../../../model/project-id.ts'
import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import type { Columnar, QueryParam } from '../../../platform/columnar/index.ts'
import type { Group } from '../rules/groups.ts'
import { maxGroupValueChars } from '../rules/groups.ts'
import { readsScenario } from '../rules/reads-scenario.ts'
import type { Dimension } from '../rules/rule.ts'
import { likePattern } from './like-pattern.ts'
import { maxMeasurementTimeMs } from './measurement-error.ts'
import {
  type Amount,
  type Cell,
  type Filter,
  maxGroupsRead,
  maxSeriesRows,
  type ReadRequest,
  type ReadResult,
  type Window,
} from './reading.ts'

/** The parameters of a statement of ClickHouse; equal values share one. */
export class Parameters {
  readonly values: Record<string, QueryParam> = {}
  readonly #names = new Map<string, string>()

  /** Adds a value and returns its placeholder. */
  add(value: QueryParam, type: string): string {
    const key = `${type} ${JSON.stringify(value, bigintAsText)}`
    const name = this.#names.get(key) ?? `p${this.#names.size}`
    this.#names.set(key, name)
    this.values[name] = value
    return `{${name}:${type}}`
  }

  /** Adds an instant in ms since 1970, to compare with times of any precision. */
  instant(at_ms: number): string {
    return `fromUnixTimestamp64Milli(${this.add(BigInt(at_ms), 'Int64')}, 'UTC')`
  }
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** Makes the pair of value and count of an amount, over the rows that meet a condition. */
export type Aggregate = (amount: Amount, when: string) => string

type StatementParts = {
  parameters: Parameters
  /** A SELECT of rows with the columns of the dimensions and a time `t` in ms since 1970. */
  rows: string
  aggregate: Aggregate
}

/**
 * Completes a statement: the rows that the selector reads, grouped by the dimensions, with one
 * aggregate for each cell. Returns groups in the order of their values, and the number of all.
 */
export function groupedStatement(request: ReadRequest, parts: StatementParts): string {
  const { filters, cells, only } = request
  const { parameters, rows, aggregate } = parts
  const aggregates = cells.map((cell) => cellAggregate(cell, aggregate, parameters))
  const [{ group_by }] = filters
  const keys = only?.map((group) => group_by.map((one) => group[one] ?? '').join(separator))
  const onlyThese =
    keys === undefined
      ? ''
      : `WHERE arrayStringConcat(fg.2, '${separator}') IN ${parameters.add(keys, 'Array(String)')}`
  const isSeries = request.stretches !== undefined || request.overlapping !== undefined
  const limit = isSeries ? maxSeriesRows : maxGroupsRead
  return `SELECT fg.1 AS f, fg.2 AS g, b, a, count() OVER () AS total FROM (
  SELECT fg, b, tuple(${aggregates.join(',\n    ')}) AS a
  FROM (
    SELECT *, arrayJoin(${groupsOf(filters, parameters)}) AS fg, ${stretchOf(request, parameters)} AS b
    FROM (${rows})
  ) ${onlyThese}
  GROUP BY fg, b
) ORDER BY f, g, b LIMIT ${limit}`
}

/** A filter of rows. */
type Selector = ReadRequest['filters'][number]['selector']

/** Makes the condition of the rows that a selector reads and that are in a group. */
export function rowsOfGroup(selector: Selector, group: Group, parameters: Parameters): string {
  const inGroup = Object.entries(group).map(([dimension, value]) => {
    const asked = parameters.add(value, 'String')
    return dimension === 'tag'
      ? `arrayExists(one -> ${cut('one')} = ${asked}, ${tagList})`
      : `${cut(scalars[dimension as keyof typeof scalars])} = ${asked}`
  })
  return [...conditionsOf(selector, parameters), ...inGroup].join(' AND ') || 'true'
}

/** Makes the conditions of a selector, which leave the seeded scenario out. */
function conditionsOf(selector: Selector, parameters: Parameters): string[] {
  const named = Object.entries(selector).flatMap(([dimension, globs]) =>
    globs === undefined ? [] : [filterBy(dimension as Dimension, globs, parameters)],
  )
  if (readsScenario(selector)) return named
  return [...named, `environment != ${parameters.add(scenarioEnvironment, 'String')}`]
}

/** Makes the list of the groups of a row: pairs of the number of a filter and the values. */
function groupsOf(filters: ReadRequest['filters'], parameters: Parameters): string {
  const lists = filters.map(({ selector, group_by }, at) => {
    const tests = conditionsOf(selector, parameters)
    const values = group_by.map((one) => (one === 'tag' ? 'tag' : cut(scalars[one])))
    const pair = `(toUInt16(${at}), [${values.join(', ')}]::Array(String))`
    const pairs = group_by.includes('tag')
      ? `arrayMap(tag -> ${pair}, ${tagsRead(selector, parameters)})`
      : `[${pair}]`
    return `if(${tests.join(' AND ') || 'true'}, ${pairs}, [])`
  })
  return lists.length === 1 ? lists.join('') : `arrayConcat(${lists.join(',\n      ')})`
}

/** Makes the number of the stretch of a row, or of each of the overlapping windows around it. */
function stretchOf({ stretches, overlapping }: ReadRequest, parameters: Parameters): string {
  if (overlapping !== undefined) {
    const [froms, tos] = [
      overlapping.map(({ from_ms }) => BigInt(from_ms)),
      overlapping.map(({ to_ms }) => BigInt(to_ms)),
    ].map((instants) => parameters.add(instants, 'Array(Int64)'))
    return `arrayJoin(arrayFilter((at, start, end) -> start <= t AND t < end,
      range(${overlapping.length}), ${froms}, ${tos}))`
  }
  if (stretches === undefined) return '0'
  if ('edges' in stretches) {
    const edges = parameters.add(stretches.edges.map(BigInt), 'Array(Int64)')
    return `arrayCount(edge -> edge <= t, ${edges})`
  }
  const [from, width] = [stretches.from_ms, stretches.width_ms].map((ms) =>
    parameters.add(BigInt(ms), 'Int64'),
  )
  return `intDiv(t - ${from}, ${width})`
}

/** Between the values of a group. Values may contain it, so that `only` may return more groups. */
const separator = '\u001f'

function cellAggregate(
  { amount, window }: Cell,
  aggregate: Aggregate,
  parameters: Parameters,
): string {
  return aggregate(amount, during(window, parameters))
}

function during({ from_ms, to_ms }: Window, parameters: Parameters): string {
  const [from, to] = [BigInt(from_ms), BigInt(to_ms)]
  return `t >= ${parameters.add(from, 'Int64')} AND t < ${parameters.add(to, 'Int64')}`
}

/** Columns of the dimensions that have one value in a row. */
const scalars: Readonly<Record<Exclude<Dimension, 'tag'>, string>> = {
  model: 'model_name',
  provider: 'provider',
  environment: 'environment',
  task_name: 'task_name',
  release: 'release',
}

/** The tags of a row; one empty text for a row without tags. */
const tagList = "if(empty(tags), [''], tags)"

function filterBy(dimension: Dimension, globs: readonly string[], parameters: Parameters): string {
  if (dimension !== 'tag') return matchesOne(scalars[dimension], globs, parameters)
  return `arrayExists(one -> ${matchesOne('one', globs, parameters)}, ${tagList})`
}

function matchesOne(text: string, globs: readonly string[], parameters: Parameters): string {
  const tests = globs.map((glob) => `${text} LIKE ${parameters.add(likePattern(glob), 'String')}`)
  return `(${tests.join(' OR ')})`
}

/** Makes the tags of a row that the selector names, in each of whose groups the row counts. */
function tagsRead(selector: Filter['selector'], parameters: Parameters): string {
  const named =
    selector.tag === undefined
      ? tagList
      : `arrayFilter(one -> ${matchesOne('one', selector.tag, parameters)}, ${tagList})`
  return `arrayDistinct(arrayMap(one -> ${cut('one')}, ${named}))`
}

/** Cuts a value, and replaces U+0000, which PostgreSQL cannot store. */
function cut(text: string): string {
  return `substringUTF8(replaceAll(${text}, char(0), '\uFFFD'), 1, ${maxGroupValueChars})`
}

/** Memory of one statement, so that one rule cannot stop the store. */
const memory_bytes_max = 1_073_741_824

/** A row in JSONEachRow: number of the filter, values of the group, stretch, cells as value and count, number of rows. */
type GroupRow = {
  f: number
  g: string[]
  b: string | number
  a: [number | string | null, number | string][]
  total: string
}

/** Runs a statement of `groupedStatement`. */
export async function readGroups(
  columnar: Pick<Columnar, 'ofProject'>,
  { project_id, filters, signal }: ReadRequest,
  { text, params }: { text: string; params: Parameters['values'] },
): Promise<ReadResult> {
  const ofProject = columnar.ofProject(parseProjectId(project_id))
  const { rows } = await ofProject.read<GroupRow>(text, params, {
    timeout_ms: maxMeasurementTimeMs,
    settings: { max_memory_usage: memory_bytes_max, max_threads: 2 },
    signal,
  })
  return {
    groups: rows.map(({ f, g, b, a }) => ({
      filter: f,
      stretch: Number(b),
      group: toGroup(filters[f]?.group_by ?? [], g),
      values: a.map(([value, count]) => ({
        value: value === null ? null : Number(value),
        count: Number(count),
      })),
    })),
    total: Number(rows[0]?.total ?? 0),
  }
}

function toGroup(group_by: readonly Dimension[], values: readonly string[]): Group {
  return Object.fromEntries(group_by.map((one, at) => [one, values[at] ?? ''])) as Group
}
