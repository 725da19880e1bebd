/** Where a task can stand. */
export const taskStates = ['running', 'completed', 'failed'] as const
export type TaskState = (typeof taskStates)[number]
