import type {
  CorrelationRow,
  CorrelationSearch,
  RecordStore,
  TraceCorrelationFilter,
} from '../record-contract.ts'
import {
  allOf,
  behind,
  type Condition,
  inWindow,
  latestFirst,
  nanoParameter,
  ofTrace,
  rows_max,
  sortedBy,
  when,
} from './conditions.ts'
import type { Read } from './store-failure.ts'

type CorrelationReads = Pick<
  RecordStore,
  'traceCorrelations' | 'countTraceCorrelations' | 'searchCorrelations' | 'countCorrelations'
>

/** The reads of table `correlations`. */
export function correlationReads(read: Read): CorrelationReads {
  return {
    traceCorrelations: async (projectId, traceId, { after, order, limit, ...filter }) => {
      const wanted = traceConditions(projectId, traceId, filter)
      const position = allOf([behind(order, traceColumns, after)])
      const sorted = sortedBy(['time', ...Object.keys(traceColumns)], order)
      const sql = `${latestSql(wanted, position)} ORDER BY ${sorted} LIMIT {limit:UInt32}`
      const params = { ...wanted.params, ...position.params, limit: Math.min(limit, rows_max) }
      return (await read<JsonRow>(sql, params)).map(correlationFrom)
    },
    countTraceCorrelations: (projectId, traceId, { limit, ...filter }) => {
      const wanted = traceConditions(projectId, traceId, filter)
      return counted(read, ofTraceCountSql(wanted), { ...wanted.params, limit })
    },
    searchCorrelations: async (projectId, { after, order, limit, ...search }) => {
      const versions = searchConditions(projectId, search)
      const position = allOf([inWindow(search), behind(order, searchColumns, after)])
      const sorted = sortedBy(['time', ...Object.keys(searchColumns)], order)
      const sql = `${latestSql(versions, position)} ORDER BY ${sorted} LIMIT {limit:UInt32}`
      const params = { ...versions.params, ...position.params, limit: Math.min(limit, rows_max) }
      return (await read<JsonRow>(sql, params)).map(correlationFrom)
    },
    countCorrelations: (projectId, { limit, ...search }) => {
      const versions = searchConditions(projectId, search)
      const within = inWindow(search)
      const sql = `SELECT count() AS correlations FROM (
        ${latestSql(versions, within)} LIMIT {limit:UInt32})`
      return counted(read, sql, { ...versions.params, ...within.params, limit })
    },
  }
}

type JsonRow = Omit<CorrelationRow, 'time'> & { time_ns: string }

function correlationFrom({ time_ns, ...row }: JsonRow): CorrelationRow {
  return { ...row, time: BigInt(time_ns) }
}

async function counted(read: Read, sql: string, params: Condition['params']): Promise<number> {
  const [row] = await read<{ correlations: string }>(sql, params)
  return Number(row?.correlations ?? 0)
}

function traceConditions(
  projectId: string,
  traceId: string,
  { observation_id, correlation_type }: TraceCorrelationFilter,
): Condition {
  return allOf([
    ofTrace(projectId, traceId),
    when(observation_id, (observation) => ({
      sql: 'observation_id = {observation:String}',
      params: { observation },
    })),
    when(correlation_type, (type) => ({
      sql: 'correlation_type = {type:String}',
      params: { type },
    })),
  ])
}

const identity = 'correlation_type, correlation_value, trace_id, observation_id'

const ofTraceCountSql = ({ sql }: Condition) => `
SELECT count() AS correlations FROM (
  SELECT 1 FROM correlations WHERE ${sql} LIMIT 1 BY ${identity} LIMIT {limit:UInt32}
)`

/** What tells correlations of one instant apart, in a trace and in a search. */
const traceColumns = {
  correlation_type: 'String',
  observation_id: 'String',
  value_digest: 'String',
} as const
const searchColumns = {
  trace_id: 'UUID',
  observation_id: 'String',
  value_digest: 'String',
} as const

/**
 * All versions that may count. The time of a correlation is no part of its identity, and merges
 * drop older versions within a month only; so whole months are read here and the window is applied
 * to the latest version, or the answer would depend on what has merged.
 */
function searchConditions(projectId: string, search: CorrelationSearch): Condition {
  const { correlation_type: type, value, prefix, from, to } = search
  return allOf([
    {
      sql: 'project_id = {project:UUID} AND correlation_type = {type:String}',
      params: { project: projectId, type },
    },
    when(value, (exact) => ({
      sql: 'correlation_value = {value:String}',
      params: { value: exact },
    })),
    when(prefix, (begin) => ({
      sql: 'startsWith(correlation_value, {prefix:String})',
      params: { prefix: begin },
    })),
    {
      sql: `toYYYYMM(time) >= toYYYYMM(${nanoParameter('from')})
        AND toYYYYMM(time) <= toYYYYMM(${nanoParameter('to')})`,
      params: { from, to },
    },
  ])
}

/** The latest versions, and of these some: the time is no part of the identity. */
const latestSql = (versions: Condition, among: Condition) => `
SELECT trace_id, observation_id, correlation_type, correlation_value, value_digest,
  toUnixTimestamp64Nano(time) AS time_ns, source, metadata
FROM (
  SELECT trace_id, observation_id, correlation_type, correlation_value, time, source, metadata,
    lower(hex(sipHash128(correlation_value))) AS value_digest
  FROM correlations WHERE ${versions.sql}
  ORDER BY ${latestFirst}
  LIMIT 1 BY ${identity}
)
WHERE ${among.sql}`
