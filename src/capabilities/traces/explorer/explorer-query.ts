import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import {
  cursorParameter,
  expected,
  flagParameter,
  integerParameter,
  textParameter,
} from '../../../model/list-query.ts'
import { observationTypes, statuses } from '../../../model/observation.ts'
import { treeFields } from '../load-tree.ts'
import { marks } from '../tree/contract.ts'

/** Forms of an explorer's answer. */
const views = ['tree', 'outline'] as const

/** The query parameters of an explorer. */
export const explorerQuery = z.strictObject({
  view: z
    .enum(views, { error: expected('tree or outline') })
    .default('tree')
    .describe(
      '`tree`: returns nodes page by page. `outline`: returns columns of all nodes at once; allows only `from`, `to` and `clocks`.',
    ),
  ...treeFields,
  parent: textParameter('Returns only nodes below this one, by `node_id`.', 300),
  open: textParameter('Includes this observation, its ancestors and its descendants first.', 64),
  depth: integerParameter({
    minimum: 1,
    maximum: 100,
    default: 3,
    description: 'Maximum levels returned, 1–100.',
  }),
  children: integerParameter({
    minimum: 1,
    maximum: 500,
    default: 50,
    description: 'Maximum children returned of each node, 1–500.',
  }),
  limit: integerParameter({
    minimum: 1,
    maximum: 500,
    default: 100,
    description: 'Maximum nodes returned, 1–500.',
  }),
  cursor: cursorParameter,
  name: textParameter(
    'Returns only observations with exactly this name, as a list ordered by start.',
  ),
  type: z
    .enum(observationTypes, { error: expected(`one of ${observationTypes.join(', ')}`) })
    .optional()
    .describe('Returns only observations of this type.'),
  status: z
    .enum(statuses, { error: expected(`one of ${statuses.join(', ')}`) })
    .optional()
    .describe('Returns only observations with this status.'),
  mark: z
    .enum(marks, { error: expected(`one of ${marks.join(', ')}`) })
    .optional()
    .describe('Returns only observations with this mark.'),
  q: textParameter('Returns only observations with this text in a name or error; case-sensitive.'),
  search_content: flagParameter('Whether `q` also searches inputs and outputs.'),
})

/** The parameters of an explorer. `trace_id`: the trace of `parent` and `open`, if it is given. */
export type ExplorerQuery = z.output<typeof explorerQuery> & { trace_id?: string | undefined }

/** Parameters that select nodes. An outline has all nodes, so it does not allow them. */
const selecting = [
  'parent',
  'open',
  'cursor',
  'name',
  'type',
  'status',
  'mark',
  'q',
  'search_content',
  'trace_id',
] as const

/**
 * Throws `invalid_request` for an outline with parameters that select nodes, and for a trace of no
 * node.
 */
export function checkExplorerQuery(query: ExplorerQuery): void {
  if (query.view === 'outline') checkNothingSelected(query)
  else if (query.trace_id !== undefined && query.parent === undefined && query.open === undefined) {
    const fault = { pointer: 'query.trace_id', detail: 'expected it with parent or open' }
    throw problem('invalid_request', {
      detail: `${fault.pointer}: ${fault.detail}`,
      faults: [fault],
    })
  }
}

function checkNothingSelected(query: ExplorerQuery): void {
  const faults = selecting
    .filter((name) => query[name] !== undefined)
    .map((name) => ({ pointer: `query.${name}`, detail: 'expected nothing with view=outline' }))
  const [first] = faults
  if (first === undefined) return
  throw problem('invalid_request', { detail: `${first.pointer}: ${first.detail}`, faults })
}
