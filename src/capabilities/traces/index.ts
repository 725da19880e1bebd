import type { Route } from '../../platform/http/index.ts'
import { compareTraces } from './comparison/comparison.ts'
import { getCriticalPath } from './critical-path/critical-path.ts'
import { listTraceEvents } from './events.ts'
import { exploreTrace } from './explorer/explorer.ts'
import { listTraceLinks } from './links.ts'
import type { TraceDeps } from './trace-path.ts'

export { checkWhatIf, pathErrors } from './critical-path/critical-path.ts'
export { taskPathQuery } from './critical-path/critical-path-query.ts'
export { answerTaskPath, taskPathReply } from './critical-path/task-path.ts'
export { answerExplorer, explorerErrors, explorerReply } from './explorer/explorer.ts'
export { checkExplorerQuery, explorerQuery } from './explorer/explorer-query.ts'
export { rollupSchema, shownRollup } from './explorer/node-reply.ts'
export { readTree, type TreeSource, windowOf } from './load-tree.ts'
export { isoWindowOf, readTraceRows } from './read-trace-rows.ts'
export {
  orderParameter,
  pageFields,
  readPosition,
  recordFields,
  textOrNull,
} from './record-pages.ts'
export { checkTraceExists, type TraceDeps, tracePath } from './trace-path.ts'
export { buildTree } from './tree/build-tree.ts'
export { marks, type RollUp, type TraceTree, type TreeNode } from './tree/contract.ts'
export { addTo, emptyRollUp, takeFrom } from './tree/roll-up.ts'
export { isoAt, msFrom } from './tree/times.ts'

/** The routes under `/api/v2/observability/traces`, except those of other rooms. */
export function traceRoutes(deps: TraceDeps): Route[] {
  return [
    listTraceEvents(deps),
    listTraceLinks(deps),
    exploreTrace(deps),
    getCriticalPath(deps),
    compareTraces(deps),
  ]
}
