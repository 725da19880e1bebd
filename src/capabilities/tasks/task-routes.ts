import type { Route } from '../../platform/http/index.ts'
import { completeTask } from './complete.ts'
import { postDetect } from './detect.ts'
import { failTask } from './fail.ts'
import { getTask } from './task.ts'
import type { TaskDeps } from './task-deps.ts'
import { getTaskFindings, getTaskLoops } from './task-findings.ts'
import { listTasks } from './tasks.ts'
import { getTaskTimeline } from './timeline.ts'
import { getTaskToolCalls } from './tool-calls.ts'

/** The routes under `/api/v1/tasks`. */
export function taskRoutes(deps: TaskDeps): Route[] {
  return [
    listTasks(deps),
    getTask(deps),
    getTaskTimeline(deps),
    getTaskToolCalls(deps),
    getTaskFindings(deps),
    getTaskLoops(deps),
    postDetect(deps),
    completeTask(deps),
    failTask(deps),
  ]
}
