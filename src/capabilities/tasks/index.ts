export { tasksOfConversation } from './conversation-tasks.ts'
export { afterPosition, allOf } from './sorted-page.ts'
export type { TaskDeps, TaskSettings } from './task-deps.ts'
export {
  instantSchema,
  type Task,
  taskSchema,
  taskUrl,
  tokensSchema,
} from './task-record.ts'
export { taskRoutes } from './task-routes.ts'
