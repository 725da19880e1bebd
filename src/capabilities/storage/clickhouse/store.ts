import type { Observation } from '../../../model/observation.ts'
import { countedCallSql } from '../../../model/observation.ts'
import type { Columnar, QueryParams } from '../../../platform/columnar/index.ts'
import type {
  ConversationHint,
  ObservationIds,
  ObservationStore,
  TaskHint,
  TraceLookup,
  TracePage,
} from '../contract.ts'
import { eventCounts, genAiEvents } from './gen-ai-events.ts'
import {
  encodeObservations,
  type ObservationRow,
  observationColumns,
  observationFrom,
  observationsAt,
  readExpression,
  splitByDays,
  taskVersions,
} from './observation-row.ts'
import { ownerChanges, rowErasure, traceHeads } from './owner-store.ts'
import {
  type ConversationRollupRow,
  conversationRollupFrom,
  costSums,
  fingerprints_max,
  type TaskRollupRow,
  type TraceSummaryRow,
  taskRollupFrom,
  tokenSum,
  traceSummaryFrom,
} from './rollup-row.ts'
import { asStoreFailure, reader } from './store-failure.ts'
import { taskObservations, taskSums, taskToolRows } from './task-rows.ts'
import { edges, ends, inWindow } from './time-window.ts'

/** Maximum rows of one page or trace. */
const rows_max = 10_000

/** Maximum ids of one roll-up statement: they are sent in the URL, at most 1 MiB. */
const ids_max = 250

/** ClickHouse, and the reads of the store if they are for people. Changes read for themselves. */
export type StoreOptions = { columnar: Columnar; reads?: Columnar }

/**
 * Opens the store of observations in ClickHouse. Until parts merge, a table holds all versions of
 * an observation; each statement keeps the latest by LIMIT 1 BY the table's key, in a fifth to two
 * thirds of the time of FINAL (4.4 M rows, 10 % of them re-sent). All versions of an observation must
 * have the same task and conversation, which are filtered before: `setOwners` changes them all.
 */
export function openClickHouseStore({
  columnar,
  reads = columnar,
}: StoreOptions): ObservationStore {
  const read = reader(reads)
  return {
    insert: (observations, { token }) => insert(columnar, observations, token),
    taskRollups: (projectId, tasks) =>
      inGroups(tasks, async (group) =>
        (await read<TaskRollupRow>(projectId, taskRollupsSql, taskIds(group))).map(taskRollupFrom),
      ),
    conversationRollups: (projectId, conversations) =>
      inGroups(conversations, async (group) => {
        const params = conversationIds(group)
        const rows = await read<ConversationRollupRow>(projectId, conversationRollupsSql, params)
        return rows.map(conversationRollupFrom)
      }),
    taskObservations: (projectId, taskId, page) => taskObservations(read, projectId, taskId, page),
    taskToolRows: (projectId, taskId, asked) => taskToolRows(read, projectId, taskId, asked),
    taskSums: (projectId, taskId, asked) => taskSums(read, projectId, taskId, asked),
    conversationTraces: async (projectId, conversationId, page) => {
      const params = { conversation: conversationId, ...tracePageParams(page) }
      const sql = conversationTracesSql(page.order)
      return (await read<TraceSummaryRow>(projectId, sql, params)).map(traceSummaryFrom)
    },
    countConversationTraces: async (projectId, conversationId, { limit, ...window }) => {
      const params = { conversation: conversationId, limit, ...edges(window) }
      const [row] = await read<{ traces: string }>(projectId, countConversationTracesSql, params)
      return Number(row?.traces ?? 0)
    },
    observation: async (projectId, ids) => {
      const [row] = await read<ObservationRow>(projectId, observationSql, observationParams(ids))
      return row && observationFrom(row)
    },
    traceObservations: async (projectId, trace) => {
      const params = traceParams(trace)
      return (await read<ObservationRow>(projectId, traceObservationsSql, params)).map(
        observationFrom,
      )
    },
    taskVersions: (projectId, asked) => taskVersions(read, projectId, asked),
    observationsAt: (projectId, ids, signal) => observationsAt(read, projectId, ids, signal),
    genAiEvents: (projectId, asked) => genAiEvents(read, projectId, asked),
    eventCounts: (projectId, asked) => eventCounts(read, projectId, asked),
    traceHeads: (projectId, asked) => traceHeads(read, projectId, asked),
    setOwners: ownerChanges(columnar),
    eraseRows: rowErasure(columnar),
  }
}

async function insert(columnar: Columnar, observations: readonly Observation[], token: string) {
  if (observations.length === 0) return
  const ofAll = columnar.acrossProjects('ingest')
  for (const [at, batch] of splitByDays(observations).entries()) {
    const rows = encodeObservations(batch)
    const options = { deduplication_token: at === 0 ? token : `${token} ${at}` }
    await asStoreFailure(ofAll.insertRowBinary('observations', observationColumns, rows, options))
  }
}

async function inGroups<Item, Result>(
  items: readonly Item[],
  work: (group: readonly Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += ids_max) {
    results.push(...(await work(items.slice(at, at + ids_max))))
  }
  return results
}

function taskIds(tasks: readonly TaskHint[]): QueryParams {
  return { ids: tasks.map((task) => task.task_id), from: earliest(tasks) }
}

function conversationIds(hints: readonly ConversationHint[]): QueryParams {
  return { ids: hints.map((hint) => hint.conversation_id), from: earliest(hints) }
}

function earliest(hints: readonly { from: bigint }[]): bigint {
  let least = ends.to
  for (const { from } of hints) if (from < least) least = from
  return least
}

function tracePageParams({ after, limit, order, ...window }: TracePage): QueryParams {
  const beforeAll = order === 'asc' ? ends.from : ends.to
  return {
    ...edges(window),
    after_start: after?.start_time ?? beforeAll,
    after_id: after?.trace_id ?? '00000000-0000-0000-0000-000000000000',
    limit: Math.min(limit, rows_max),
  }
}

function observationParams(ids: ObservationIds): QueryParams {
  const { trace_id, observation_id, ...window } = ids
  return { trace: trace_id, observation: observation_id, ...edges(window) }
}

function traceParams({ trace_id, limit, ...window }: TraceLookup): QueryParams {
  const bound = Math.min(limit, rows_max)
  return { trace: trace_id, limit: bound, ...edges(window) }
}

/** Keeps the latest version of each observation. */
const latestVersion = `ingested_at DESC, message_id DESC
  LIMIT 1 BY start_time, trace_id, observation_id`

const buckets = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
] as const

/** A subquery of the columns of roll-ups, each observation once. `call` marks a model call. */
const rolledUp = (where: string) => `(
  SELECT trace_id, observation_id, parent_observation_id, start_time, end_time, status, name,
    task_id, task_name, task_implicit, conversation_id, conversation_external_id, user_id,
    environment, release, cluster_name, provider, usage_source, cost_usd, price_partial, ${buckets.join(', ')},
    ${countedCallSql} AS call, type IN ('generation', 'embedding') AND counted_with != '' AS merged,
    if(model = '', model_requested, model) AS answered_by
  FROM observations
  WHERE project_id = {project:UUID} AND ${where}
  ORDER BY ${latestVersion}
) AS o`

const sums = `
  count() AS observations,
  countIf(o.call) AS calls,
  countIf(o.merged) AS merged_calls,
  countIf(o.call AND o.status = 'error') AS errors,
  countIf(o.call AND o.status = 'cancelled') AS cancelled,
  ${buckets.map((bucket) => `${tokenSum(`ifNull(o.${bucket}, 0)`)} AS ${bucket}`).join(',\n  ')},
  ${tokenSum(buckets.map((bucket) => `ifNull(o.${bucket}, 0)`).join(' + '))} AS total_tokens,
  countIf(o.call AND o.usage_source = 'estimated') AS estimated_calls,
  ${costSums},
  arraySort(groupUniqArrayIf(100)(o.answered_by, o.call AND o.answered_by != '')) AS models,
  arraySort(groupUniqArrayIf(100)(o.provider, o.call AND o.provider != '')) AS providers,
  toUnixTimestamp64Nano(min(o.start_time)) AS start_ns,
  toUnixTimestamp64Nano(max(o.end_time)) AS end_ns`

const latest = (column: string) =>
  `argMaxIf(o.${column}, (o.start_time, o.observation_id), o.${column} != '')`

const sinceFrom = "start_time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')"

/** A plain span counts in a named task, but not in an implicit task of its trace. */
const countsInTask = "NOT (task_implicit AND type = 'span')"

const taskRollupsSql = `
SELECT o.task_id AS task_id, ${sums},
  uniqExact(o.trace_id) AS traces,
  ${latest('task_name')} AS name,
  ${latest('user_id')} AS user_id,
  ${latest('conversation_id')} AS conversation_id,
  ${latest('environment')} AS environment,
  ${latest('release')} AS release,
  ${latest('cluster_name')} AS cluster_name,
  CAST(countIf(NOT o.task_implicit) = 0, 'Bool') AS implicit,
  toUnixTimestamp64Nano(max(o.start_time)) AS last_start_ns,
  groupArray(${fingerprints_max + 1})((o.trace_id, o.observation_id)) AS identities
FROM ${rolledUp(`${sinceFrom} AND task_id IN {ids:Array(String)} AND ${countsInTask}`)}
GROUP BY o.task_id
LIMIT ${ids_max}`

const conversationRollupsSql = `
SELECT o.conversation_id AS conversation_id, ${sums},
  uniqExactIf(o.task_id, o.task_id != '') AS tasks,
  uniqExact(o.trace_id) AS traces,
  ${latest('conversation_external_id')} AS external_id,
  ${latest('user_id')} AS user_id
FROM ${rolledUp(`${sinceFrom} AND conversation_id IN {ids:Array(String)}`)}
GROUP BY o.conversation_id
LIMIT ${ids_max}`

const traceStarted = `min(o.start_time) >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
  AND min(o.start_time) < fromUnixTimestamp64Nano({to:Int64}, 'UTC')`

/** A trace's start depends on all of its rows, so the window can't reduce reading. */
const conversationTracesSql = (order: 'asc' | 'desc') => `
SELECT o.trace_id AS trace_id, ${sums},
  ${latest('task_id')} AS task_id,
  multiIf(countIf(o.status = 'error') > 0, 'error',
    countIf(o.status = 'cancelled') > 0, 'cancelled', 'ok') AS status,
  argMin(o.name, (o.parent_observation_id != '', o.start_time, o.observation_id)) AS name
FROM ${rolledUp('conversation_id = {conversation:String}')}
GROUP BY o.trace_id
HAVING ${traceStarted}
  AND (min(o.start_time), o.trace_id) ${order === 'asc' ? '>' : '<'}
    (fromUnixTimestamp64Nano({after_start:Int64}, 'UTC'), {after_id:UUID})
ORDER BY min(o.start_time) ${order}, o.trace_id ${order}
LIMIT {limit:UInt32}`

const countConversationTracesSql = `
SELECT count() AS traces FROM (
  SELECT o.trace_id FROM observations AS o
  WHERE project_id = {project:UUID} AND conversation_id = {conversation:String}
  GROUP BY o.trace_id HAVING ${traceStarted}
  LIMIT {limit:UInt32}
)`

const allColumns = observationColumns.map(readExpression).join(', ')

const observationSql = `
SELECT ${allColumns} FROM observations
WHERE project_id = {project:UUID} AND ${inWindow} AND trace_id = {trace:UUID}
  AND observation_id = {observation:String}
ORDER BY ingested_at DESC, message_id DESC
LIMIT 1`

const traceObservationsSql = `
SELECT ${allColumns} FROM observations
WHERE project_id = {project:UUID} AND ${inWindow} AND trace_id = {trace:UUID}
ORDER BY start_time, observation_id, ${latestVersion}
LIMIT {limit:UInt32}`
