import { z } from 'zod'
import { askRoute, withQuery } from '../ask.ts'
import { defineTool } from '../tool.ts'
import { fields, step } from './fields.ts'

export const outlineTrace = defineTool({
  name: 'outline_trace',
  title: 'Outline of a trace',
  description:
    'Shows a trace as a tree of its spans with times, costs, errors and marks such as slow or critical path. Use parent to open a branch. Needs key scope traces:read or query:run.',
  input: z.strictObject({
    trace_id: fields.trace_id,
    parent: z.string().min(1).max(300).optional().describe('node_id whose children are shown.'),
    depth: z.int().min(1).max(20).default(3).describe('Levels, 1–20.'),
    status: z.enum(['ok', 'error']).optional().describe('Only spans with this status, as a list.'),
    limit: fields.limit,
    cursor: fields.cursor,
  }),
  more: 'Ask with less depth, a smaller limit, or the parent of one branch.',
  run: ({ trace_id, ...query }, ask) =>
    askRoute(ask, { method: 'GET', path: withQuery(`${tracePath(trace_id)}/explorer`, query) }),
})

export const compareTraces = defineTool({
  name: 'compare_traces',
  title: 'Compare two traces',
  description:
    'Compares two traces span by span: what was added, removed or changed, with times and costs. Compare a failed run with a good one. Needs key scope traces:read or query:run.',
  input: z.strictObject({
    trace_id: fields.trace_id,
    with: fields.trace_id.describe('The other trace; added spans are only in this one.'),
    changes: z.boolean().default(true).describe('Only pairs that differ.'),
    limit: fields.limit,
    cursor: fields.cursor,
  }),
  more: 'Ask with a smaller limit.',
  run: ({ trace_id, ...query }, ask) =>
    askRoute(ask, { method: 'GET', path: withQuery(`${tracePath(trace_id)}/comparison`, query) }),
})

function tracePath(trace_id: string): string {
  return `/api/v2/observability/traces/${step(trace_id)}`
}
