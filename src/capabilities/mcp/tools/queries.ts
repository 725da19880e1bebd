import { z } from 'zod'
import { askRoute } from '../ask.ts'
import { defineTool } from '../tool.ts'

const base = '/api/v2/observability/query'

/** Maximum rows or groups of a query by a tool. */
const rows_max = 100

const shared = {
  entity: z
    .enum(['observations', 'traces', 'events', 'links', 'correlations', 'tasks', 'findings'])
    .describe('Kind of record.'),
  window: z
    .strictObject({ from: z.string().max(64), to: z.string().max(64) })
    .describe('Time range, ISO 8601; at most 90 days.'),
  where: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'Condition: {field, op, value}, {and: […]}, {or: […]} or {not: …}. An unknown field is refused with the known ones.',
    ),
  select: z.array(z.string().max(300)).max(100).optional().describe('Fields of each row.'),
  order_by: z.array(z.unknown()).max(10).optional().describe('[{field, direction}].'),
  measures: z
    .array(z.unknown())
    .max(20)
    .optional()
    .describe(
      'Aggregates instead of rows: [{fn: "count", as: "calls"}, {fn: "sum", field: "cost_usd", as: "cost"}].',
    ),
  group_by: z
    .array(z.unknown())
    .max(10)
    .optional()
    .describe(
      'With measures: fields, and at most one {time_bucket: "5m"}; days and weeks also with {time_zone: "Europe/Berlin"}.',
    ),
  limit: z.int().min(1).max(rows_max).default(20).describe('Maximum rows or groups, 1–100.'),
  cursor: z.string().min(1).max(2_000).optional().describe('next_cursor of the page before.'),
}

export const runQuery = defineTool({
  name: 'run_query',
  title: 'Run a query',
  description:
    'Selects records, or aggregates them with measures and group_by, in the query language of Looptrace. Example: {"entity": "observations", "window": {…}, "where": {"field": "status", "op": "eq", "value": "error"}}. Needs key scope query:run or traces:read.',
  input: z.strictObject(shared),
  more: 'Ask with a smaller limit, or select fewer fields.',
  run: (query, ask) => {
    const path = query.measures === undefined ? base : `${base}/aggregate`
    return askRoute(ask, { method: 'POST', path, body: query })
  },
})

export const explainQuery = defineTool({
  name: 'explain_query',
  title: 'Explain a query',
  description:
    'Checks a query without running it: which store answers, what is read, and what is wrong. Takes the input of run_query. Needs key scope query:run or traces:read.',
  input: z.strictObject(shared),
  more: 'Explain a query with fewer conditions.',
  run: (query, ask) => askRoute(ask, { method: 'POST', path: `${base}/explain`, body: query }),
})
