import { itemsOf, objectFrom } from '../../../kernel/json-values.ts'
import { shownCallCost } from '../../../model/call-cost.ts'
import { type RunDeps, readRecords } from '../../query/index.ts'
import type { TimeWindow } from '../../storage/index.ts'
import type { TreeSource } from '../load-tree.ts'
import { filterFrom, isoWindowOf } from '../read-trace-rows.ts'
import { observationKey } from '../tree/build-tree.ts'
import type { TreeNode } from '../tree/contract.ts'
import type { NodeDetails } from './node-reply.ts'

const plainFields = [
  'name',
  'error_type',
  'error_message',
  'model',
  'model_requested',
  'provider',
  'agent_name',
  'service_name',
]

const contentFields = ['input', 'output']

/** Maximum observations that a search finds; the earliest are kept. */
const found_max = 10_000

/**
 * Finds the observations with a text in one of their fields; case-sensitive. Returns their keys by
 * `observationKey`. `content`: whether to search inputs and outputs too.
 */
export async function searchText(
  queries: RunDeps,
  { source, text, content }: { source: TreeSource; text: string; content: boolean },
): Promise<ReadonlySet<string>> {
  const { project_id, choice, window, signal } = source
  const searched = content ? [...plainFields, ...contentFields] : plainFields
  const anyOf = { or: searched.map((field) => ({ field, op: 'contains', value: text })) }
  const { rows, alias } = await readRecords(queries, {
    project_id,
    signal,
    rows_max: found_max,
    query_class: 'explorer',
    body: {
      entity: 'observations',
      window: isoWindowOf(window),
      where: { and: [filterFrom(choice), anyOf] },
      select: ['trace_id', 'observation_id'],
      order_by: [{ field: 'start_time', direction: 'asc' }],
    },
  })
  return new Set(
    rows.map((row) => {
      const value = (name: string) => String(row[alias[name] ?? ''])
      return observationKey({
        trace_id: value('trace_id'),
        observation_id: value('observation_id'),
      })
    }),
  )
}

const texts = [
  'provider',
  'agent_name',
  'level',
  'outcome',
  'finish_reason',
  'error_type',
  'error_message',
  'content_state',
] as const

const fields = [
  'trace_id',
  'observation_id',
  'start_time',
  'model',
  'model_requested',
  'status_code',
  'time_to_first_token_ms',
  'price_version',
  'price_partial',
  'cost_computed_usd',
  'cost_reported_usd',
  'service_tier',
  'usage_details',
  ...texts,
]

const text_characters_max = 500

/** Reads the details of a page's nodes, at most 500, keyed by `detailsKey`. */
export async function readDetails(
  queries: RunDeps,
  nodes: readonly TreeNode[],
  { project_id, choice, signal }: Omit<TreeSource, 'window'>,
): Promise<ReadonlyMap<string, NodeDetails>> {
  const ids = [...new Set(nodes.flatMap(({ row, id }) => (row === null ? [] : [id])))]
  if (ids.length === 0) return new Map()
  const read = await readRecords(queries, {
    project_id,
    signal,
    rows_max,
    query_class: 'explorer',
    body: {
      entity: 'observations',
      window: isoWindowOf(windowOf(nodes)),
      where: { and: [filterFrom(choice), { field: 'observation_id', op: 'in', value: ids }] },
      select: fields,
      order_by: [{ field: 'start_time', direction: 'asc' }],
    },
  })
  const { alias, rows } = read
  return new Map(
    rows.map((row) => {
      const value = (name: string) => row[alias[name] ?? '']
      const [trace_id, observation_id] = [value('trace_id'), value('observation_id')]
      return [`${value('start_time')} ${trace_id} ${observation_id}`, toDetails(value)]
    }),
  )
}

/** Maximum rows read for a page. A tree can repeat ids, so a node can have several rows. */
const rows_max = 2_000

function windowOf(nodes: readonly TreeNode[]): TimeWindow {
  const starts = nodes.flatMap(({ row }) => (row === null ? [] : [row.start_time]))
  let [from, to] = [starts[0] ?? 0n, starts[0] ?? 0n]
  for (const start of starts) {
    if (start < from) from = start
    if (start > to) to = start
  }
  return { from, to: to + 1n }
}

function toDetails(value: (name: string) => unknown): NodeDetails {
  const text = (name: string) => String(value(name) ?? '').slice(0, text_characters_max) || null
  const first_ms = value('time_to_first_token_ms') ?? null
  return {
    provider: text('provider'),
    model: text('model') ?? text('model_requested'),
    agent_name: text('agent_name'),
    level: text('level'),
    outcome: text('outcome'),
    status_code: Number(value('status_code') ?? 0),
    finish_reason: text('finish_reason'),
    error_type: text('error_type'),
    error_message: text('error_message'),
    content_state: text('content_state'),
    time_to_first_token_ms: first_ms === null ? null : Number(first_ms),
    ...costDetails(value),
  }
}

function costDetails(value: (name: string) => unknown) {
  const text = (name: string) => String(value(name) ?? '')
  const dollars = (name: string) => text(name) || null
  return shownCallCost({
    price_version: text('price_version'),
    price_partial: itemsOf(value('price_partial')).map(String),
    cost_computed_usd: dollars('cost_computed_usd'),
    cost_reported_usd: dollars('cost_reported_usd'),
    service_tier: text('service_tier'),
    usage_details: Object.fromEntries(
      Object.entries(objectFrom(value('usage_details')) ?? {}).map(([name, tokens]) => [
        name,
        Number(tokens),
      ]),
    ),
  })
}
