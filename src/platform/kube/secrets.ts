/** A Secret of the cluster; values as text. */
export type Secret = {
  name: string
  namespace: string
  uid: string
  resource_version: string
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  /** uid of the controller that owns it; undefined when nothing does. */
  owner_uid: string | undefined
  data: Readonly<Record<string, string>>
}

/** What a Secret is made of; its owner is the resource that is being reconciled. */
export type SecretDraft = {
  name: string
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  data: Readonly<Record<string, string>>
}

/** Secrets of one namespace, owned by one resource. Reads ask the API server, never a cache. */
export type SecretClient = {
  read(name: string): Promise<Secret | undefined>
  /** Rejects with `KubeConflict` when one of that name is there. */
  create(draft: SecretDraft): Promise<Secret>
  /** Replaces one that this resource owns; rejects with `KubeConflict` when it changed meanwhile. */
  replace(old: Secret, draft: SecretDraft): Promise<Secret>
  /**
   * Lets go of one that this resource owns: as `replace`, and without an owner from then on, so that
   * garbage collection keeps it.
   */
  disown(old: Secret, draft: SecretDraft): Promise<Secret>
  /** Deletes just the one that was read (uid and version as preconditions); gone is done. */
  remove(secret: Secret): Promise<void>
  /** Those that this resource owns. */
  listOwned(): Promise<Secret[]>
}
