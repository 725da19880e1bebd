import { createHmac } from 'node:crypto'
import type { EvidenceItem } from '../gates/evidence-item.ts'

/** The fields of a task that evidence reads. */
export type TaskRow = {
  task_id: string
  name: string
  user_id: string | null
  conversation_id: string | null
  state: 'running' | 'completed' | 'failed'
  started_at: string
  /** When the task was stored, by the clock of the store. */
  created_at: string
  calls: number
  errors: number
  total_tokens: number
  input_tokens: number
  /** Time from the start of the first call to the end of the task; null while it runs. */
  open_ms: number | null
  cost_usd: string
  unpriced_calls: number
  duration_ms: number
  trust_score: number | null
  is_analysed: boolean
  /** Whether a value of its answers was not checked. */
  is_unchecked: boolean
  /** Whether its verification is pending or failed. */
  is_unverified: boolean
  has_failure: boolean
  has_loop: boolean
  has_context_failure: boolean
  has_unsupported_claim: boolean
  /** Whether all values of its answers were checked. */
  is_checked: boolean
}

/** Settings of the conversion of a task to evidence. `withGroup`: a gate needs names of tasks. */
type TaskContext = {
  salt: Buffer
  withGroup: boolean
  feedback: { is_negative: boolean } | undefined
}

/**
 * Returns a task as evidence. Ids of tasks and users are digests with a salt, so that evidence has
 * no personal data once the salt is removed.
 */
export function toTaskItem(row: TaskRow, { salt, withGroup, feedback }: TaskContext): EvidenceItem {
  return {
    id: pseudonym(salt, `task ${row.task_id}`),
    cluster: pseudonym(salt, clusterOf(row)),
    group: withGroup ? row.name : null,
    case_id: null,
    values: {
      ...(row.state !== 'running' && { task_success_rate: row.state === 'completed' ? 1 : 0 }),
      ...(row.is_analysed && {
        unresolved_failure_rate: Number(row.has_failure),
        loop_rate: Number(row.has_loop),
        context_failure_rate: Number(row.has_context_failure),
      }),
      // Values that were not checked are missing evidence: they do not count as supported.
      ...(row.is_analysed &&
        (row.is_checked || row.has_unsupported_claim) && {
          unsupported_claim_rate: Number(row.has_unsupported_claim),
        }),
      ...(row.trust_score !== null && { trust_score_mean: numberOrNull(row.trust_score) }),
      ...(feedback && { negative_feedback_rate: Number(feedback.is_negative) }),
      ...(row.unpriced_calls === 0 && { cost_mean_usd: numberOrNull(Number(row.cost_usd)) }),
      duration_mean_ms: numberOrNull(row.duration_ms),
    },
  }
}

/** Returns the cluster of a task: its user, else its conversation, else the task itself. */
function clusterOf({ user_id, conversation_id, task_id }: TaskRow): string {
  if (user_id !== null) return `user ${user_id}`
  return conversation_id === null ? `task ${task_id}` : `conversation ${conversation_id}`
}

/** Returns a salted digest of 128 bits, in hexadecimal. */
export function pseudonym(salt: Buffer, text: string): string {
  return createHmac('sha256', salt).update(text).digest('hex').slice(0, 32)
}

/** JSON has no NaN: null marks a broken number. */
function numberOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
