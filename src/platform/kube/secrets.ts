import { KubeNotFound } from './errors.ts'
import type { KubeClient, KubeDraft, KubeObject, KubeResource } from './kube-client.ts'

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

export const secretResource: KubeResource = { group: '', version: 'v1', plural: 'secrets' }

/** Who a Secret belongs to: the garbage collector removes it with its owner. */
export type SecretOwner = {
  apiVersion: string
  kind: string
  namespace: string
  name: string
  uid: string
}

export type OwnedSecretsOptions = {
  owner: SecretOwner
  /** Stand on every Secret that is made: what a watch of them selects by. */
  labels: Readonly<Record<string, string>>
  /** A label whose value is the owner's uid. */
  owner_label: string
  page_size: number
}

/**
 * Secrets of an owner's namespace, made with the owner as their controller. `blockOwnerDeletion` is
 * left out: to set it takes the right to change the owner's finalizers where the admission plug-in
 * OwnerReferencesPermissionEnforcement is on.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
 */
export function ownedSecrets(kube: KubeClient, options: OwnedSecretsOptions): SecretClient {
  const { namespace, uid } = options.owner
  return {
    read: async (name) => {
      try {
        return secretOf(await kube.read(secretResource, { namespace, name }))
      } catch (error) {
        if (error instanceof KubeNotFound) return undefined
        throw error
      }
    },
    create: async (draft) => secretOf(await kube.create(secretResource, wire(options, draft))),
    replace: (old, draft) => replace(kube, old, wire(options, draft)),
    disown: (old, draft) => replace(kube, old, wireOf(namespace, draft)),
    remove: async (secret) => {
      const at = { namespace, name: secret.name }
      const { uid: secretUid, resource_version } = secret
      await kube.remove(secretResource, at, { uid: secretUid, resource_version }).catch(goneIsDone)
    },
    listOwned: () => listOwned(kube, options, uid),
  }
}

/** A resource owns a handful of Secrets: pages beyond that are a fault of something else. */
const pages_max = 20

async function listOwned(
  kube: KubeClient,
  { owner: { namespace }, owner_label, page_size }: OwnedSecretsOptions,
  uid: string,
): Promise<Secret[]> {
  const found: Secret[] = []
  let next: string | undefined
  for (let page = 0; page < pages_max; page += 1) {
    const label_selector = `${owner_label}=${uid}`
    const list = await kube.list(secretResource, { namespace, label_selector, page_size, next })
    found.push(...list.items.map(secretOf).filter(({ owner_uid }) => owner_uid === uid))
    next = list.next
    if (next === undefined) break
  }
  return found
}

async function replace(kube: KubeClient, old: Secret, object: KubeDraft): Promise<Secret> {
  const version = { uid: old.uid, resourceVersion: old.resource_version }
  const metadata = { ...object.metadata, ...version }
  return secretOf(await kube.replace(secretResource, { ...object, metadata }))
}

function wire({ owner, labels, owner_label }: OwnedSecretsOptions, draft: SecretDraft): KubeDraft {
  const { apiVersion, kind, name, uid, namespace } = owner
  const object = wireOf(namespace, draft)
  const metadata = {
    ...object.metadata,
    labels: { ...draft.labels, ...labels, [owner_label]: uid },
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  }
  return { ...object, metadata }
}

/** A Secret that nothing owns and no watch of ours selects. */
function wireOf(namespace: string, draft: SecretDraft): KubeDraft {
  const { name, labels, annotations } = draft
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name, namespace, labels: { ...labels }, annotations: { ...annotations } },
    data: mapValues(draft.data, (value) => Buffer.from(value, 'utf8').toString('base64')),
  }
}

function secretOf({ metadata, data }: KubeObject): Secret {
  const { name, namespace, uid, resourceVersion, labels, annotations, ownerReferences } = metadata
  return {
    name,
    namespace,
    uid,
    resource_version: resourceVersion,
    labels: labels ?? {},
    annotations: annotations ?? {},
    owner_uid: ownerReferences?.find(({ controller }) => controller === true)?.uid,
    data: mapValues(data ?? {}, (value) => Buffer.from(value, 'base64').toString('utf8')),
  }
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}

function goneIsDone(error: unknown): void {
  if (!(error instanceof KubeNotFound)) throw error
}
