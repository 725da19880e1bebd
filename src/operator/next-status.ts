import { isDeepStrictEqual } from 'node:util'
import type { Condition, ConditionDraft } from './contract.ts'

/** What stands in the status of a resource, of any kind. */
export type WrittenStatus = Readonly<Record<string, unknown>> & {
  conditions: readonly Condition[]
  observedGeneration: number
}

export type StatusDraft = {
  conditions: readonly ConditionDraft[]
  /** The kind's own fields; left out, those that stand there stay. */
  own?: object | undefined
  /** The service was read and compared. */
  synced: boolean
}

/** A message is for people; the CRD takes no longer one than metav1.Condition does. */
const message_characters_max = 4_096

/**
 * The status to write, or undefined when it is what stands there: a resync that finds all as it was
 * writes nothing. `lastTransitionTime` changes with a condition's status alone (metav1.Condition);
 * conditions that the draft does not have stay as they are, but for their age.
 */
export function nextStatus(
  before: Readonly<Record<string, unknown>>,
  draft: StatusDraft,
  { generation, now_ms }: { generation: number; now_ms: number },
): WrittenStatus | undefined {
  const now = secondsTime(now_ms)
  const old = conditionsIn(before)
  const { conditions: _c, observedGeneration: _g, lastSyncTime, ...ownBefore } = before
  const conditions = mergeConditions(old, draft.conditions, { generation, now })
  const own = draft.own ?? ownBefore
  const isSame =
    before['observedGeneration'] === generation &&
    isDeepStrictEqual(conditions, old) &&
    isDeepStrictEqual(asStored(own), asStored(ownBefore))
  if (isSame) return undefined
  const synced = draft.synced ? now : lastSyncTime
  return {
    ...own,
    ...(synced !== undefined && { lastSyncTime: synced }),
    observedGeneration: generation,
    conditions,
  }
}

function mergeConditions(
  old: readonly Condition[],
  drafts: readonly ConditionDraft[],
  { generation, now }: { generation: number; now: string },
): Condition[] {
  const named = new Set(drafts.map(({ type }) => type))
  const kept = old.filter(({ type }) => !named.has(type))
  const fresh = drafts.map(({ type, status, reason, message }) => {
    const was = old.find((condition) => condition.type === type)
    const lastTransitionTime = was?.status === status ? was.lastTransitionTime : now
    const text = message.slice(0, message_characters_max)
    const observedGeneration = generation
    return { type, status, reason, message: text, lastTransitionTime, observedGeneration }
  })
  return [...kept, ...fresh].toSorted(byType)
}

/** The conditions of a status, in the order of their types. */
function conditionsIn(status: Readonly<Record<string, unknown>>): Condition[] {
  const { conditions } = status
  return Array.isArray(conditions)
    ? conditions.map((condition) => ({ ...condition })).toSorted(byType)
    : []
}

function byType(a: Condition, b: Condition): number {
  return a.type < b.type ? -1 : 1
}

/** As the API server keeps it: it may drop a null, which means the same as nothing there. */
function asStored(value: object): unknown {
  return JSON.parse(JSON.stringify(value, (_key, part) => part ?? undefined))
}

/** metav1.Time: whole seconds. */
function secondsTime(now_ms: number): string {
  return new Date(now_ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
