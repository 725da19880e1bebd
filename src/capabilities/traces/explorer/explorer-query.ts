import { z } from 'zod'
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

/** What a page of the explorer is asked with. */
export const explorerQuery = z.strictObject({
  ...treeFields,
  parent: textParameter('Only what is below this node, by its `node_id`.', 300),
  open: textParameter('Shows this observation, those above it and those below it first.', 64),
  depth: integerParameter({
    minimum: 1,
    maximum: 100,
    default: 3,
    description: 'Levels that are shown, 1 to 100.',
  }),
  children: integerParameter({
    minimum: 1,
    maximum: 500,
    default: 50,
    description: 'Children of one node that are shown, 1 to 500.',
  }),
  limit: integerParameter({
    minimum: 1,
    maximum: 500,
    default: 100,
    description: 'Nodes of a page, 1 to 500.',
  }),
  cursor: cursorParameter,
  name: textParameter('Only observations of exactly this name; they are listed, by their start.'),
  type: z
    .enum(observationTypes, { error: expected(`one of ${observationTypes.join(', ')}`) })
    .optional()
    .describe('Only observations of this type.'),
  status: z
    .enum(statuses, { error: expected(`one of ${statuses.join(', ')}`) })
    .optional()
    .describe('Only observations of this status.'),
  mark: z
    .enum(marks, { error: expected(`one of ${marks.join(', ')}`) })
    .optional()
    .describe('Only observations that have this mark.'),
  q: textParameter('Only observations that have this text, as it is written: names and errors.'),
  search_content: flagParameter('`q` is searched for in inputs and outputs, too.'),
})
