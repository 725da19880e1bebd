import type { Columnar } from '../../../platform/columnar/index.ts'
import type { RepairStore, UsageChange, UsageColumns } from '../repair-contract.ts'
import { observationColumnTypes } from '../row-format/columns.ts'
import { rowChanges } from './change-rows.ts'
import { ofProject } from './conditions.ts'
import { type TimelineJsonRow, timelineRowFrom } from './observation-row.ts'
import { changes_max, identitiesOf, place } from './owner-store.ts'
import { reader } from './store-failure.ts'
import { tableTargets } from './table-target.ts'
import { timelineColumns } from './task-rows.ts'
import { edges, inWindow } from './time-window.ts'

/** Opens the store of rows that are repaired, in ClickHouse. */
export function openClickHouseRepairStore({ columnar }: { columnar: Columnar }): RepairStore {
  const read = reader(columnar)
  const targetOf = tableTargets(columnar)
  return {
    days: async (project_id, window) => {
      const rows = await read<{ day: string }>(project_id, daysSql, edges(window))
      return rows.map(({ day }) => BigInt(day) * 1_000_000_000n)
    },
    tracesOf: async (project_id, { after = firstId, ...page }) => {
      const params = { ...page, after }
      return (await read<{ id: string }>(project_id, tracesSql, params)).map(({ id }) => id)
    },
    traceRows: async (project_id, { trace_ids, ...asked }) => {
      const params = { ...asked, traces: trace_ids }
      return (await read<TimelineJsonRow>(project_id, rowsSql, params)).map(timelineRowFrom)
    },
    setUsage: async (project_id, changes) => {
      if (changes.length === 0) return
      const table = rowChanges(columnar, await targetOf('observations'), 'observations')
      for (let at = 0; at < changes.length; at += changes_max) {
        const { set, where } = statementFor(changes.slice(at, at + changes_max))
        await table.update(set, ofProject(project_id, where))
      }
    },
  }
}

const firstId = '00000000-0000-0000-0000-000000000000'

const daysSql = `
SELECT toString(toUnixTimestamp(toStartOfDay(start_time))) AS day FROM observations
WHERE project_id = {project:UUID} AND ${inWindow}
GROUP BY day ORDER BY toUInt64(day)`

const tracesSql = `
SELECT DISTINCT trace_id AS id FROM observations
WHERE project_id = {project:UUID} AND ${inWindow} AND trace_id > {after:UUID}
ORDER BY trace_id
LIMIT {limit:UInt32}`

const rowsSql = `
SELECT ${timelineColumns} FROM observations
WHERE project_id = {project:UUID} AND trace_id IN {traces:Array(UUID)}
  AND start_time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
  AND start_time <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
ORDER BY trace_id, start_time, observation_id, ingested_at DESC, message_id DESC
LIMIT 1 BY trace_id, start_time, observation_id
LIMIT {limit:UInt32}`

/** Columns of a `UsageChange` that hold exact decimals, which travel as text. */
const dollars: readonly string[] = ['cost_usd', 'cost_computed_usd', 'cost_reported_usd']

const usageColumns = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
  'usage_source',
  'usage_semantics',
  'usage_details',
  'service_tier',
  'response_id',
  'cost_usd',
  'price_version',
  'price_partial',
  'cost_computed_usd',
  'cost_reported_usd',
] as const satisfies readonly (keyof UsageColumns)[]

/** The new values of a row are one JSON text, because a parameter has no maps. */
const set = usageColumns
  .map((column) => {
    const value = `{values:Array(String)}[${place}]`
    if (dollars.includes(column)) {
      return `${column} = toDecimal64OrNull(JSONExtractString(${value}, '${column}'), 9)`
    }
    const type = observationColumnTypes[column].replaceAll(/LowCardinality\((\w+)\)/g, '$1')
    return `${column} = JSONExtract(${value}, '${column}', '${type}')`
  })
  .join(', ')

function statementFor(changes: readonly UsageChange[]) {
  const where = identitiesOf(changes)
  const values = changes.map((change) =>
    JSON.stringify(Object.fromEntries(usageColumns.map((column) => [column, change[column]]))),
  )
  const params = { ...where.params, places: changes.map((_, at) => at + 1), values }
  return { set, where: { sql: where.sql, params } }
}
