import { isDeepStrictEqual } from 'node:util'
import type { Condition, ConditionDraft } from '../contract.ts'
import { isInProgress } from '../ready-condition.ts'
import type { ProjectStatus } from '../tenancy/project-use.ts'
import { withoutProject } from './cached-resource.ts'

/** The status of a resource of any kind. */
export type WrittenStatus = Readonly<Record<string, unknown>> & {
  conditions: readonly Condition[]
  observedGeneration: number
}

export type StatusDraft = {
  conditions: readonly ConditionDraft[]
  /** The kind's own fields; the current ones stay if left out. */
  own?: object | undefined
  /** The project of a kind with `projectRef`; the current one stays if left out. */
  project?: ProjectStatus | undefined
  /** Whether the service was read and compared. */
  synced: boolean
  /** Whether `observedGeneration` stays as it is, 0 at first. */
  is_unobserved?: boolean | undefined
}

/** Bounds messages below the limit of metav1.Condition, which the CRD has. */
const message_characters_max = 4_096

/**
 * Returns the status to write, or undefined if it equals the current one, so that a resync without
 * changes writes nothing. `lastTransitionTime` changes only with a condition's status
 * (metav1.Condition). Conditions that the draft lacks are kept, except those of kstatus.
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
  const fields = draft.own ?? ownBefore
  const own =
    draft.project === undefined ? fields : { ...withoutProject({ ...fields }), ...draft.project }
  const observedGeneration = observedBy(draft, before['observedGeneration'], generation)
  const isSame =
    before['observedGeneration'] === observedGeneration &&
    isDeepStrictEqual(conditions, old) &&
    isDeepStrictEqual(asStored(own), asStored(ownBefore))
  if (isSame) return undefined
  const synced = draft.synced ? now : lastSyncTime
  return {
    ...own,
    ...(synced !== undefined && { lastSyncTime: synced }),
    observedGeneration,
    conditions,
  }
}

/** Returns the generation that the status refers to. */
function observedBy(
  { conditions, is_unobserved = false }: StatusDraft,
  before: unknown,
  generation: number,
): number {
  if (is_unobserved) return Number(before ?? 0)
  // Without a condition about it, the generation has not been reconciled yet.
  return conditions.length > 0 || before === undefined ? generation : Number(before)
}

/**
 * Returns `False` for each condition of kstatus that no longer holds and that the write did not
 * remove, because another field manager owns it too, as after a restore with the status.
 */
export function endedProgress(
  written: readonly Condition[],
  drafts: readonly ConditionDraft[],
): ConditionDraft[] {
  const ready = drafts.find(({ type }) => type === 'Ready')
  const types = new Set(drafts.map(({ type }) => type))
  const ended = written.filter((one) => isInProgress(one) && !types.has(one.type))
  return ready === undefined ? [] : ended.map(({ type }) => ({ ...ready, type, status: 'False' }))
}

function mergeConditions(
  old: readonly Condition[],
  drafts: readonly ConditionDraft[],
  { generation, now }: { generation: number; now: string },
): Condition[] {
  const named = new Set(drafts.map(({ type }) => type))
  const isKept = (condition: Condition) =>
    !named.has(condition.type) && !(named.has('Ready') && isInProgress(condition))
  const kept = old.filter(isKept)
  const fresh = drafts.map(({ type, status, reason, message }) => {
    const was = old.find((condition) => condition.type === type)
    const lastTransitionTime = was?.status === status ? was.lastTransitionTime : now
    const text = message.slice(0, message_characters_max)
    const observedGeneration = generation
    return { type, status, reason, message: text, lastTransitionTime, observedGeneration }
  })
  return [...kept, ...fresh].toSorted(byType)
}

/** Returns the conditions of a status, sorted by type. */
function conditionsIn(status: Readonly<Record<string, unknown>>): Condition[] {
  const { conditions } = status
  return Array.isArray(conditions)
    ? conditions.map((condition) => ({ ...condition })).toSorted(byType)
    : []
}

function byType(a: Condition, b: Condition): number {
  return a.type < b.type ? -1 : 1
}

/** Converts a value to its stored form; the API server may drop nulls. */
function asStored(value: object): unknown {
  return JSON.parse(JSON.stringify(value, (_key, part) => part ?? undefined))
}

/** Formats a time as metav1.Time, in whole seconds. */
function secondsTime(now_ms: number): string {
  return new Date(now_ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
