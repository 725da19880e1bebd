import type {
  CorrelationRow,
  CorrelationSearch,
  RecordStore,
  TraceCorrelationFilter,
} from '../record-contract.ts'
import {
  afterPosition,
  allOf,
  type Condition,
  inWindow,
  latestFirst,
  nanoParameter,
  ofTrace,
  orderBy,
  rows_max,
  when,
} from './conditions.ts'
import type { Read } from './store-failure.ts'

type CorrelationReads = Pick<
  RecordStore,
  'traceCorrelations' | 'countTraceCorrelations' | 'searchCorrelations' | 'countCorrelations'
>

/** Returns the reads of table `correlations`. */
export function correlationReads(read: Read): CorrelationReads {
  return {
    traceCorrelations: async (projectId, traceId, { after, order, limit, ...filter }) => {
      const wanted = traceConditions(projectId, traceId, filter)
      const position = allOf([afterPosition(order, traceColumns, after)])
      const sorted = orderBy(['time', ...Object.keys(traceColumns)], order)
      const sql = `${latestSql(wanted, position)} ORDER BY ${sorted} LIMIT {limit:UInt32}`
      const params = { ...wanted.params, ...position.params, limit: Math.min(limit, rows_max) }
      return (await read<JsonRow>(projectId, sql, params)).map(correlationFrom)
    },
    countTraceCorrelations: (projectId, traceId, { limit, ...filter }) => {
      const wanted = traceConditions(projectId, traceId, filter)
      return readCount(read, projectId, {
        sql: ofTraceCountSql(wanted),
        params: { ...wanted.params, limit },
      })
    },
    searchCorrelations: async (projectId, { after, order, limit, ...search }) => {
      const versions = searchConditions(projectId, search)
      const position = allOf([inWindow(search), afterPosition(order, searchColumns, after)])
      const sorted = orderBy(['time', ...Object.keys(searchColumns)], order)
      const sql = `${latestSql(versions, position)} ORDER BY ${sorted} LIMIT {limit:UInt32}`
      const params = { ...versions.params, ...position.params, limit: Math.min(limit, rows_max) }
      return (await read<JsonRow>(projectId, sql, params)).map(correlationFrom)
    },
    countCorrelations: (projectId, { limit, ...search }) => {
      const versions = searchConditions(projectId, search)
      const within = inWindow(search)
      const sql = `SELECT count() AS correlations FROM (
        ${latestSql(versions, within)} LIMIT {limit:UInt32})`
      const params = { ...versions.params, ...within.params, limit }
      return readCount(read, projectId, { sql, params })
    },
  }
}

type JsonRow = Omit<CorrelationRow, 'time'> & { time_ns: string }

function correlationFrom({ time_ns, ...row }: JsonRow): CorrelationRow {
  return { ...row, time: BigInt(time_ns) }
}

async function readCount(read: Read, projectId: string, { sql, params }: Condition) {
  const [row] = await read<{ correlations: string }>(projectId, sql, params)
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

/** The columns that order correlations of one instant, in a trace and in a search. */
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
 * Selects all versions of whole months; the window is applied to the latest version later. The time
 * is not part of a correlation's identity, and merges drop older versions only within a month, so
 * a window here would make the answer depend on merges.
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

/** Selects the latest versions that match `among`. */
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
