import { contentAttributes } from '../../../model/content-attributes.ts'
import type { QueryParams } from '../../../platform/columnar/index.ts'
import type { RecordKind } from '../record-contract.ts'
import type { HeldBy, OpenSlice } from '../retention-contract.ts'
import { type Condition, nanoParameter, ofProject, type ProjectCondition } from './conditions.ts'
import { milliParameter } from './ledger-sums.ts'

/** The columns of a table that retention uses: its time, identity and environment. */
type RetainedTable = { time: string; identity: string; has_environment: boolean }

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

/** Selects the rows of a slice, except those of its held traces. */
export function inSlice(
  slice: OpenSlice & { held_trace_ids?: readonly string[] },
): ProjectCondition {
  const { kind, environments, trace_ids, held_trace_ids = [], stored_before_ms } = slice
  const { where, params } = contentMasks[kind]
  const { time, has_environment } = retainedTables[kind]
  return ofProject(
    slice.project_id,
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
  )
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

/** Returns SQL for the UTC day of a row's time, counted from 1970. */
export function dayOf(kind: RecordKind): string {
  return `intDiv(toUnixTimestamp64Second(${retainedTables[kind].time}), ${day_s})`
}

export const day_s = 86_400

/** Returns a SELECT of the held traces, and its parameters. */
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

/** Returns SQL that tests whether the row's trace has the environment of a parameter. */
function isOf(parameter: string): string {
  const named = `project_id = {project:UUID} AND environment = {${parameter}:String}`
  return `trace_id GLOBAL IN (SELECT trace_id FROM observations WHERE ${named}
    UNION DISTINCT SELECT trace_id FROM traces WHERE ${named})`
}

/** Returns SQL for the environment of a row; for kinds without one, that of its trace. */
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

/** SQL that finds and removes the content of a kind. */
type ContentMask = {
  /** Selects rows with content. */
  where: string
  /** The assignments of an ALTER TABLE … UPDATE; undefined: whole rows are content and deleted. */
  set: string | undefined
  params: QueryParams
}

const { keys, request_parameters } = contentAttributes()

const attributeParams = { content_keys: keys, request_parameters }

/** Tests an attribute's key for content, like `isContentAttribute` of the model. */
const isContent = `if(startsWith(key, 'request.'),
  substring(key, ${'request.'.length + 1}) NOT IN {request_parameters:Array(String)},
  match(key, {content_keys:String}))`

const hasContent = `arrayExists(key -> ${isContent}, mapKeys(attributes))`

const withoutContent = `mapFilter((key, value) -> NOT (${isContent}), attributes)`

/** The masks of each kind: they remove what capture's `metadata_only` omits. */
export const contentMasks: Record<RecordKind, ContentMask> = {
  observations: {
    where: "content_state IN ('full', 'truncated')",
    set: `input = '', output = '', error_message = '',
  tool_calls = arrayMap(call -> (call.1, call.2, ''), tool_calls),
  tool_results = arrayMap(result -> (result.1, ''), tool_results),
  attributes = ${withoutContent}, content_state = 'expired'`,
    params: attributeParams,
  },
  traces: {
    where: "(input != '' OR output != '')",
    set: "input = '', output = ''",
    params: {},
  },
  events: {
    where: `(body != '' OR ${hasContent})`,
    set: `body = '', attributes = ${withoutContent}`,
    params: attributeParams,
  },
  links: {
    where: `(${hasContent})`,
    set: `attributes = ${withoutContent}`,
    params: attributeParams,
  },
  correlations: { where: "correlation_type = 'w3c_baggage'", set: undefined, params: {} },
}
