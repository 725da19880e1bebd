import type { Route } from '../../platform/http/index.ts'
import { completeTask } from './complete.ts'
import { getTaskCriticalPath } from './critical-path.ts'
import { postDetect } from './detect.ts'
import { exploreTask, type TaskTreeDeps } from './explorer.ts'
import { failTask } from './fail.ts'
import { getTaskFindings } from './findings.ts'
import { getTaskLoops } from './loops.ts'
import { getTask } from './task.ts'
import { listTasks } from './tasks.ts'
import { getTaskTimeline } from './timeline.ts'
import { getTaskToolCalls } from './tool-calls.ts'
import { getTaskTurns, type TurnDeps } from './turns/turns.ts'

export { callSumFields, callSumsFrom } from './call-sums.ts'
export { findJoinedTask } from './joined-task.ts'
export { endTask } from './store.ts'
export {
  instantSchema,
  type Task,
  type TaskDeps,
  type TaskSettings,
  taskNamed,
  taskNotFound,
  taskPath,
  taskSchema,
  taskUrl,
} from './task.ts'
export { tasksOfConversation } from './tasks.ts'

/** The routes under `/api/v1/tasks`. */
export function taskRoutes(deps: TurnDeps): Route[] {
  return [
    listTasks(deps),
    getTask(deps),
    getTaskTimeline(deps),
    getTaskToolCalls(deps),
    getTaskTurns(deps),
    getTaskFindings(deps),
    getTaskLoops(deps),
    postDetect(deps),
    completeTask(deps),
    failTask(deps),
  ]
}

/** The routes under `/api/v1/tasks` that run queries. */
export function taskTreeRoutes(deps: TaskTreeDeps): Route[] {
  return [exploreTask(deps), getTaskCriticalPath(deps)]
}
