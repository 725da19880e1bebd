import type {
  CorrelationRow,
  CorrelationSearch,
  RecordStore,
  TraceCorrelationFilter,
  TraceCorrelationPage,
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
    traceCorrelations: async (projectId, traceId, page) => {
      const wanted = traceConditions(projectId, traceId, page)
      const params = { ...wanted.params, limit: Math.min(page.limit, rows_max) }
      return (await read<JsonRow>(ofTraceSql(wanted), params)).map(correlationFrom)
    },
    countTraceCorrelations: (projectId, traceId, { limit, ...filter }) => {
      const wanted = traceConditions(projectId, traceId, filter)
      return counted(read, ofTraceCountSql(wanted), { ...wanted.params, limit })
    },
    searchCorrelations: async (projectId, { after, order, limit, ...search }) => {
      const versions = searchConditions(projectId, search)
      const position = allOf([inWindow(search), behind(order, positionColumns, after)])
      const sorted = sortedBy(['time', ...Object.keys(positionColumns)], order)
      const sql = `${searchSql(versions, position)} ORDER BY ${sorted} LIMIT {limit:UInt32}`
      const params = { ...versions.params, ...position.params, limit: Math.min(limit, rows_max) }
      return (await read<JsonRow>(sql, params)).map(correlationFrom)
    },
    countCorrelations: (projectId, { limit, ...search }) => {
      const versions = searchConditions(projectId, search)
      const within = inWindow(search)
      const sql = `SELECT count() AS correlations FROM (
        ${searchSql(versions, within)} LIMIT {limit:UInt32})`
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
  filter: TraceCorrelationFilter & Pick<TraceCorrelationPage, 'after'>,
): Condition {
  const { observation_id, correlation_type, after } = filter
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
    after && {
      sql: `(correlation_type, correlation_value, observation_id) >
        ({after_type:String}, {after_value:String}, {after_observation:String})`,
      params: {
        after_type: after.correlation_type,
        after_value: after.correlation_value,
        after_observation: after.observation_id,
      },
    },
  ])
}

/** In a trace. */
const identityInTrace = 'correlation_type, correlation_value, observation_id'

const readColumns = `trace_id, observation_id, correlation_type, correlation_value,
  toUnixTimestamp64Nano(time) AS time_ns, source, metadata`

const ofTraceSql = ({ sql }: Condition) => `
SELECT ${readColumns} FROM correlations WHERE ${sql}
ORDER BY ${identityInTrace}, ${latestFirst}
LIMIT 1 BY ${identityInTrace}
LIMIT {limit:UInt32}`

const ofTraceCountSql = ({ sql }: Condition) => `
SELECT count() AS correlations FROM (
  SELECT 1 FROM correlations WHERE ${sql} LIMIT 1 BY ${identityInTrace} LIMIT {limit:UInt32}
)`

const positionColumns = {
  correlation_value: 'String',
  trace_id: 'UUID',
  observation_id: 'String',
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

const searchSql = (versions: Condition, among: Condition) => `
SELECT ${readColumns} FROM (
  SELECT trace_id, observation_id, correlation_type, correlation_value, time, source, metadata
  FROM correlations WHERE ${versions.sql}
  ORDER BY ${latestFirst}
  LIMIT 1 BY correlation_value, trace_id, observation_id
)
WHERE ${among.sql}`
