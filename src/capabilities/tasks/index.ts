export { defaultTaskSettings, type TaskDeps, type TaskSettings } from './task-deps.ts'
export { taskRoutes } from './task-routes.ts'
