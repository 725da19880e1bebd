import type { Clock } from '../../kernel/time.ts'
import { type Caller, requesterOf } from '../../platform/http/index.ts'
import type { CapturePolicies } from '../records/capture/index.ts'
import type { BrowserLimits, NetworkTags } from './browser-limits.ts'
import { feedbackNotFound, type ItemChange } from './items/change-items.ts'
import { findSeenTask } from './items/feedback-tasks.ts'
import type { ItemKey } from './items/items-store.ts'
import { maskOf, taskNamedBy } from './items/read-item.ts'
import type { FeedbackDb, FeedbackLimits } from './ports.ts'

/** Dependencies of the routes of feedback. */
export type FeedbackDeps = {
  db: FeedbackDb
  clock: Clock
  policies: Pick<CapturePolicies, 'policyOf'>
  limits: FeedbackLimits
  browsers: BrowserLimits
  network_tags: NetworkTags
}

/** Returns the id under which a task is stored, and whether the task was seen. */
export async function findTask(
  { db, policies }: Pick<FeedbackDeps, 'db' | 'policies'>,
  caller: Caller,
  given: string,
): Promise<{ task_id: string; is_seen: boolean }> {
  const { project_id } = caller
  const task_id = taskNamedBy(caller, maskOf(await policies.policyOf(project_id))(given))
  const seen = await findSeenTask(db, { project_id, task_id })
  return { task_id: seen?.task_id ?? task_id, is_seen: seen !== undefined }
}

/** Returns the key of the item in a path. */
export async function findKey(
  deps: Pick<FeedbackDeps, 'db' | 'policies'>,
  caller: Caller,
  { task_id, feedback_id }: Omit<ItemKey, 'project_id'>,
): Promise<ItemKey> {
  const task = await findTask(deps, caller, task_id)
  return { project_id: caller.project_id, task_id: task.task_id, feedback_id }
}

/**
 * Returns the actor, and a check that throws the error of an unknown item unless a browser key
 * changes an item that browser keys created for the end user in the request.
 */
export function changeBy(caller: Caller, { user_id }: { user_id: string | undefined }): ItemChange {
  return {
    actor: requesterOf(caller),
    check: (row) => {
      if (caller.browser === undefined) return
      if (row.by_browser && row.user_id === (user_id ?? null)) return
      throw feedbackNotFound(row.feedback_id)
    },
  }
}
