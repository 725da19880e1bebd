/** Kinds of stored objects whose changes are announced. */
export const changeKinds = ['task', 'trace', 'finding', 'incident'] as const
export type ChangeKind = (typeof changeKinds)[number]

/**
 * A stored change, as it is announced to open pages and scripts: ids and a version, never contents. It is a
 * hint, which may be lost or repeated.
 */
export type ChangeHint = {
  project_id: string
  kind: ChangeKind
  id: string
  /** Version of the object, for kinds that have one. */
  version?: number
  /** Task of a finding. */
  task_id?: string
}
