import type { Route } from '../../platform/http/index.ts'
import type { RunDeps } from '../query/index.ts'
import type { TaskDeps } from '../tasks/index.ts'
import { listContextFailures } from './context-failures.ts'
import { getContextHealth } from './context-health.ts'
import { getConversation, listConversations } from './conversations.ts'
import { getTraceTree } from './trace-tree.ts'
import { listConversationTraces } from './traces.ts'

export { contextWeights, severityShares } from './context-health.ts'

/** The routes under `/api/v1/conversations`. */
export function conversationRoutes(deps: TaskDeps): Route[] {
  return [
    listConversations(deps),
    getConversation(deps),
    listConversationTraces(deps),
    listContextFailures(deps),
    getContextHealth(deps),
  ]
}

/** The routes under `/api/v1/conversations` that run queries. */
export function conversationTreeRoutes(deps: TaskDeps & { queries: RunDeps }): Route[] {
  return [getTraceTree(deps)]
}
