import type { FeatureCounts, PatternInput, UserCounts } from './find-patterns.ts'

/** A task with feedback. `user` is the conversation for a task without a user. */
export type RatedTask = { user: string; is_negative: boolean; features: readonly string[] }

/** Counts tasks by user, and by feature and user. A feature listed twice counts once. */
export function countFeatures(tasks: readonly RatedTask[]): PatternInput {
  const users = new Map<string, UserCounts>()
  const features = new Map<string, Map<string, UserCounts>>()
  for (const { user, is_negative, features: ofTask } of tasks) {
    count(users, user, is_negative)
    for (const feature of new Set(ofTask)) {
      const byUser = features.get(feature) ?? new Map<string, UserCounts>()
      features.set(feature, byUser)
      count(byUser, user, is_negative)
    }
  }
  const counted: FeatureCounts[] = []
  for (const [feature, byUser] of features) counted.push({ feature, users: [...byUser.values()] })
  return { users: [...users.values()], features: counted }
}

function count(users: Map<string, UserCounts>, user: string, isNegative: boolean): void {
  const counts = users.get(user) ?? { user, tasks: 0, negative: 0 }
  users.set(user, counts)
  counts.tasks += 1
  if (isNegative) counts.negative += 1
}
