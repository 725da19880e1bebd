import { z } from 'zod'
import {
  cursorParameter,
  expected,
  integerParameter,
  textParameter,
} from '../../../model/list-query.ts'
import { treeFields } from '../load-tree.ts'

/** What the route is asked with. */
export const criticalPathQuery = z.strictObject({
  ...treeFields,
  root: textParameter('The path of this root, by its `node_id`; the longest when left out.', 300),
  limit: integerParameter({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Entries of each list, 1 to 1,000.',
  }),
  cursor: cursorParameter,
  what_if: textParameter('What would be saved if this observation were faster.', 64),
  what_if_name: textParameter('What would be saved if all observations of this name were faster.'),
  faster_percent: integerParameter({
    minimum: 1,
    maximum: 100,
    default: 50,
    description: 'By how much, of the time that it took.',
  }),
  aggregate: z
    .enum(['task_name'], { error: expected('task_name') })
    .optional()
    .describe(
      'The paths of the latest traces of the same task name, too. `from` and `to` then say which of them; the week before and after this trace when left out.',
    ),
  traces: integerParameter({
    minimum: 2,
    maximum: 100,
    default: 20,
    description: 'Traces that `aggregate` looks at, 2 to 100.',
  }),
})
export type CriticalPathQuery = z.output<typeof criticalPathQuery>
