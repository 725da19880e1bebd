import { apiGroup } from './contract.ts'

/** Field manager of the operator's writes in `managedFields`. */
export const fieldManager = 'looptrace-operator'

/** Reporting controller of events. */
export const reportingController = `${apiGroup}/operator`

/** Finalizer that keeps a resource until its objects in the service are removed. */
export const finalizer = `${apiGroup}/finalizer`

export const annotations = {
  /** Id of the resource's object in the service. Written by the operator. */
  external_id: `${apiGroup}/external-id`,
  /** Id of the project that the resource uses. Written by the operator. */
  project_id: `${apiGroup}/project-id`,
  /** `true` pauses reconciliation and deletion. */
  paused: `${apiGroup}/paused`,
  /** Name of the installation of a presence Lease. */
  installation_name: `${apiGroup}/installation-name`,
  /** Watched namespaces of such an installation, separated by commas; empty: all. */
  namespaces: `${apiGroup}/namespaces`,
  /**
   * Reason to resume a suspended service account, or a channel that its receiver ended. The operator
   * removes it after use.
   */
  resume: `${apiGroup}/resume`,
  /** A new value triggers a reconcile. */
  reconcile_requested_at: `${apiGroup}/reconcile-requested-at`,
} as const

/** Labels of presence Leases. */
export const labels = { class_name: `${apiGroup}/class` } as const

/**
 * Labels of every Secret and ProjectGrant that the operator creates; its watch of Secrets selects by
 * them.
 */
export const secretLabels = { 'app.kubernetes.io/managed-by': fieldManager } as const

/** Label of Secrets and presence Leases with the id of the operator's installation. */
export const installationLabel = `${apiGroup}/installation`

/** Label of such a Secret with the uid of its owner. */
export const secretOwnerLabel = `${apiGroup}/owner-uid`

/** Label of the Secrets that NotificationChannels may use. */
export const channelLabel = { name: `${apiGroup}/channel`, value: 'true' } as const
