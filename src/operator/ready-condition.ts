import type { Condition, ConditionDraft, Kind } from './contract.ts'

/**
 * Reasons of the condition Ready that every kind may have, each with a sentence for the reference.
 */
export const commonReasons: Readonly<Record<string, string>> = {
  Pending: 'Unknown: no operator has reconciled the resource yet. This is the default in the CRD.',
  Reconciling: 'Unknown: the operator has started the first reconcile.',
  Synced: 'True: the service was read and matches the spec.',
  Suspended:
    'Unknown: reconciliation is paused because `spec.suspend` is true. False: a project admin revoked a key in an emergency; the message gives the user and the reason.',
  Paused:
    'Unknown: reconciliation is paused because the annotation `looptrace.dev/paused` is `"true"`.',
  NamespaceNotSelected:
    'Unknown: the namespace no longer matches the namespace selector of the operator. Nothing is changed, revoked or deleted until it matches again.',
  InvalidSpec:
    'The spec does not match the schema of this operator’s version. Update the CRD in the cluster.',
  NotGranted:
    'No ProjectGrant allows the resource. What it had is withdrawn at `status.withdrawal.revokeAt`.',
  ProjectAmbiguous:
    'projectRef matches several granted projects. Set the organization, or the project’s id.',
  ProjectChanged: 'projectRef was changed to another project. Nothing was moved. Undo the change.',
  ProjectNotFound: 'The project does not exist in the service.',
  Conflict: 'Another resource already declares the same object.',
  NotApplied: 'The service was written, but the read-back differs. The operator retries.',
  ServiceUnavailable: 'The service does not answer. The operator retries and deletes nothing.',
  ServiceRefused: 'The service refused the request; the message gives the reason.',
  Forbidden: 'The operator lacks a permission in the cluster; the message names the verb.',
  InternalError: 'A defect of the operator; see its log. The operator retries.',
}

/**
 * Common reasons of Ready `False` that pass without a change by anyone. A failed attempt is repeated
 * after a back-off.
 */
const temporaryReasons: ReadonlySet<string> = new Set([
  'NotApplied',
  'ServiceUnavailable',
  'InternalError',
])

/** Reasons of Ready `Unknown` of a resource that is deliberately not reconciled. */
const pausedReasons: ReadonlySet<string> = new Set(['Suspended', 'Paused', 'NamespaceNotSelected'])

/** Conditions of kstatus: present with status True only while they hold. */
export type ProgressType = 'Reconciling' | 'Stalled'

const progressTypes: ReadonlySet<string> = new Set<ProgressType>(['Reconciling', 'Stalled'])

/** Whether a condition is `Reconciling` or `Stalled` with status True. */
export function isInProgress({ type, status }: Pick<Condition, 'type' | 'status'>): boolean {
  return progressTypes.has(type) && status === 'True'
}

/**
 * Returns the condition of kstatus that goes with Ready. `Stalled`: only a change by a user helps.
 * `Reconciling`: the operator continues by itself. Undefined: ready or paused.
 * https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 */
export function progressOf(
  { temporary_reasons = [] }: Pick<Kind, 'temporary_reasons'>,
  { status, reason }: Pick<ConditionDraft, 'status' | 'reason'>,
): ProgressType | undefined {
  if (status === 'True') return undefined
  if (status === 'Unknown') return pausedReasons.has(reason) ? undefined : 'Reconciling'
  const isTemporary = temporaryReasons.has(reason) || temporary_reasons.includes(reason)
  return isTemporary ? 'Reconciling' : 'Stalled'
}

/** Returns the conditions with the one of kstatus that goes with Ready. */
export function withProgress(
  kind: Pick<Kind, 'temporary_reasons'>,
  conditions: readonly ConditionDraft[],
): readonly ConditionDraft[] {
  const ready = conditions.find(({ type }) => type === 'Ready')
  const type = ready && progressOf(kind, ready)
  return ready === undefined || type === undefined
    ? conditions
    : [...conditions, { ...ready, type, status: 'True' }]
}

/**
 * The default condition in the CRD. It shows in lists that a resource is pending, even when no
 * operator runs, and the operator need not write it (as in Gateway API).
 */
export const pendingCondition = {
  type: 'Ready',
  status: 'Unknown',
  reason: 'Pending',
  message: 'no operator has reconciled this resource yet',
  lastTransitionTime: '1970-01-01T00:00:00Z',
} as const

/** Whether a condition is the default of the CRD. */
export function isPending(condition: unknown): boolean {
  return (
    typeof condition === 'object' &&
    condition !== null &&
    'reason' in condition &&
    condition.reason === pendingCondition.reason
  )
}
