import { z } from 'zod'
import {
  cursorParameter,
  expected,
  integerParameter,
  textParameter,
} from '../../../model/list-query.ts'
import { treeFields } from '../load-tree.ts'

const pathQuery = z.strictObject({
  ...treeFields,
  root: textParameter('Root of the path, by `node_id`. Default: the longest root.', 300),
  limit: integerParameter({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Maximum entries of each list, 1–1,000.',
  }),
  cursor: cursorParameter,
  what_if: textParameter('Returns the savings if this observation were faster.', 64),
  what_if_name: textParameter('Returns the savings if all observations of this name were faster.'),
  faster_percent: integerParameter({
    minimum: 1,
    maximum: 100,
    default: 50,
    description: 'Reduction of the duration for what-if, 1–100 percent.',
  }),
})

/** The query parameters of the path of a task. */
export const taskPathQuery = pathQuery.extend({
  root: textParameter('Root of the path, by `node_id`. Default: the whole task.', 300),
})

/** The query parameters of the path of a trace. */
export const criticalPathQuery = pathQuery.extend({
  aggregate: z
    .enum(['task_name'], { error: expected('task_name') })
    .optional()
    .describe(
      'Also aggregates the latest traces of the same task name. `from` and `to` then select those traces. Default: the week before and after this trace.',
    ),
  traces: integerParameter({
    minimum: 2,
    maximum: 100,
    default: 20,
    description: 'Maximum traces to aggregate, 2–100.',
  }),
})

export type PathQuery = z.output<typeof pathQuery>

export type CriticalPathQuery = z.output<typeof criticalPathQuery>
