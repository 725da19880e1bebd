import type { QueryParams } from '../../../platform/columnar/index.ts'
import type { RecordKind } from '../record-contract.ts'
import type { HeldBy, OpenSlice } from '../retention-contract.ts'
import { allOf, type Condition, nanoParameter } from './conditions.ts'
import { contentMasks } from './content-mask.ts'
import { milliParameter } from './ledger-sums.ts'

/** What retention knows of a table: its time, what makes a row one record, its environment. */
export type RetainedTable = { time: string; identity: string; has_environment: boolean }

export const retainedTables: Record<RecordKind, RetainedTable> = {
  observations: {
    time: 'start_time',
    identity: 'start_time, trace_id, observation_id',
    has_environment: true,
  },
  traces: { time: 'time', identity: 'toDate(time), trace_id', has_environment: true },
  events: {
    time: 'time',
    identity: 'trace_id, time, observation_id, event_id',
    has_environment: false,
  },
  links: {
    time: 'time',
    identity: 'trace_id, time, observation_id, link_id',
    has_environment: false,
  },
  correlations: {
    time: 'time',
    identity: 'correlation_type, correlation_value, trace_id, observation_id',
    has_environment: false,
  },
}

/** The rows of a slice, without those of held traces where it names them. */
export function inSlice(slice: OpenSlice & { held_trace_ids?: readonly string[] }): Condition {
  const { kind, environments, trace_ids, held_trace_ids = [], stored_before_ms } = slice
  const { where, params } = contentMasks[kind]
  const { time, has_environment } = retainedTables[kind]
  return allOf([
    ofProject(slice.project_id),
    {
      sql: `${time} >= ${nanoParameter('from')} AND ${time} < ${nanoParameter('to')}`,
      params: { from: slice.from, to: slice.to },
    },
    has_environment ? list('environment', 'environments', 'String', environments) : undefined,
    list('trace_id', 'trace_ids', 'UUID', trace_ids),
    held_trace_ids.length === 0
      ? undefined
      : { sql: 'trace_id NOT IN {held:Array(UUID)}', params: { held: held_trace_ids } },
    stored_before_ms === undefined
      ? undefined
      : {
          sql: `ingested_at < ${milliParameter('stored_before')}`,
          params: { stored_before: BigInt(stored_before_ms) },
        },
    slice.with_content ? { sql: where, params } : undefined,
  ])
}

export function ofProject(project: string): Condition {
  return { sql: 'project_id = {project:UUID}', params: { project } }
}

function list(
  column: string,
  name: string,
  type: 'String' | 'UUID',
  values: readonly string[] | undefined,
): Condition | undefined {
  if (values === undefined) return undefined
  return { sql: `${column} IN {${name}:Array(${type})}`, params: { [name]: values } }
}

/** The UTC day of a row's own time, counted from 1970. */
export function dayOf(kind: RecordKind): string {
  return `intDiv(toUnixTimestamp64Second(${retainedTables[kind].time}), ${day_s})`
}

export const day_s = 86_400

/** The traces of which anything is held, as a SELECT, and the parameters that it names. */
export function heldTracesSql(holds: readonly HeldBy[]): { sql: string; params: QueryParams } {
  const valuesOf = (kind: HeldBy['kind']) =>
    holds.filter((hold) => hold.kind === kind).map(({ value }) => value)
  const owned = `project_id = {project:UUID} AND (trace_id IN {held_traces:Array(UUID)}
    OR task_id IN {held_tasks:Array(String)}
    OR conversation_id IN {held_conversations:Array(String)}
    OR conversation_external_id IN {held_conversations:Array(String)}
    OR user_id IN {held_users:Array(String)})`
  return {
    sql: `SELECT trace_id FROM observations WHERE ${owned}
  UNION DISTINCT SELECT trace_id FROM traces WHERE ${owned}
  UNION DISTINCT SELECT arrayJoin({held_traces:Array(UUID)}) AS trace_id`,
    params: {
      held_traces: valuesOf('trace'),
      held_tasks: valuesOf('task'),
      held_conversations: valuesOf('conversation'),
      held_users: valuesOf('user'),
    },
  }
}

/** Whether the row is of a trace that has the environment of this parameter. */
function isOf(parameter: string): string {
  const named = `project_id = {project:UUID} AND environment = {${parameter}:String}`
  return `trace_id GLOBAL IN (SELECT trace_id FROM observations WHERE ${named}
    UNION DISTINCT SELECT trace_id FROM traces WHERE ${named})`
}

/** An expression for the environment of a row; for kinds that have none, that of the trace. */
export function environmentOf(
  kind: RecordKind,
  environments: readonly string[],
): { sql: string; params: QueryParams } {
  if (retainedTables[kind].has_environment) return { sql: 'environment', params: {} }
  if (environments.length === 0) return { sql: "''", params: {} }
  const cases = environments.map((_, at) => `${isOf(`env_${at}`)}, {env_${at}:String}`)
  const params = Object.fromEntries(environments.map((name, at) => [`env_${at}`, name]))
  return { sql: `multiIf(${cases.join(', ')}, '')`, params }
}
