import { apiGroup } from './contract.ts'

/** Who writes status and conditions, as managedFields tell it. */
export const fieldManager = 'looptrace-operator'

/** As events tell it. */
export const reportingController = `${apiGroup}/operator`

/** Keeps a resource until what it made in the service is taken back. */
export const finalizer = `${apiGroup}/finalizer`

export const annotations = {
  /** Id in the service, written by the operator. */
  external_id: `${apiGroup}/external-id`,
  /** `true`: hands off, deletion too. */
  paused: `${apiGroup}/paused`,
  /** Any other value than before: reconcile now. */
  reconcile_requested_at: `${apiGroup}/reconcile-requested-at`,
} as const

/** Stand on every Secret that the operator makes; its watch of Secrets selects by the first. */
export const secretLabels = { 'app.kubernetes.io/managed-by': fieldManager } as const

/** A label of such a Secret: the uid of the resource that owns it. */
export const secretOwnerLabel = `${apiGroup}/owner-uid`
