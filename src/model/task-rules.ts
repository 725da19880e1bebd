import { z } from 'zod'

/**
 * The rules that find the session or the task of a call that does not name its task, in the order in
 * which they are asked. A project can switch each of them off. docs/decisions/0044
 */
export const taskRules = [
  'claude_code',
  'codex',
  'x_session_id',
  'x_session_affinity',
  'x_opencode_session',
  'metadata_user_id',
  'prompt_cache_key',
  'conversation',
  'response_id',
  'history',
] as const

/** Time without activity after which a running task is reported as stalled, and counts as ended. */
export const stalledAfterMs = 30 * 60_000

/** A rule in requests and replies. */
export const taskRuleSchema = z.enum(taskRules).meta({ id: 'TaskRule' })

export type TaskRule = (typeof taskRules)[number]

/** Attribute of an observation: the rule that found its task or conversation. */
export const taskRuleAttribute = 'task_rule'

/** Returns the rule in the id of a task that a rule made; null for any other task. */
export function taskRuleOf(task: { task_id: string; implicit: boolean }): TaskRule | null {
  const [name] = task.task_id.split(':', 1)
  return (task.implicit && taskRules.find((rule) => rule === name)) || null
}
