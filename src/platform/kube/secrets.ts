import { KubeNotFound } from './errors.ts'
import type {
  KubeClient,
  KubeDraft,
  KubeObject,
  KubeResource,
  WriteOptions,
} from './kube-client.ts'

/** A Secret of the cluster, with its values decoded to text. */
export type Secret = {
  name: string
  namespace: string
  uid: string
  resource_version: string
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  /** uid of the owning controller; undefined when there is no owner. */
  owner_uid: string | undefined
  /** Without a prototype, because users choose the names: `constructor` is one. */
  data: Readonly<Record<string, string>>
}

/** The contents of a Secret to write. Its owner is the resource that is being reconciled. */
export type SecretDraft = {
  name: string
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  data: Readonly<Record<string, string>>
}

/** A client for the Secrets of one resource. Reads go to the API server, never to a cache. */
export type SecretClient = {
  read(name: string): Promise<Secret | undefined>
  /** Rejects with `KubeConflict` when a Secret of that name exists. */
  create(draft: SecretDraft): Promise<Secret>
  /** Replaces an owned Secret. Rejects with `KubeConflict` when it has changed since the read. */
  replace(old: Secret, draft: SecretDraft): Promise<Secret>
  /**
   * Replaces an owned Secret and removes its owner reference, so that garbage collection keeps it.
   * Rejects as `replace` does.
   */
  disown(old: Secret, draft: SecretDraft): Promise<Secret>
  /** Deletes the Secret at the uid and version that were read. Does nothing if it is gone. */
  remove(secret: Secret): Promise<void>
  /**
   * Sends the write to the API server as a dry run, which stores nothing: the creation, or the
   * replacement of an old Secret. Rejects as the write would.
   */
  rehearse(draft: SecretDraft, old?: Secret): Promise<void>
  /** Lists the Secrets that this resource owns. */
  listOwned(): Promise<Secret[]>
}

export const secretResource: KubeResource = { group: '', version: 'v1', plural: 'secrets' }

/** The owner of a Secret. The garbage collector removes the Secret with its owner. */
type SecretOwner = {
  apiVersion: string
  kind: string
  namespace: string
  name: string
  uid: string
}

export type OwnedSecretsOptions = {
  owner: SecretOwner
  /** Labels of every Secret that is made; a watch selects by them. */
  labels: Readonly<Record<string, string>>
  /** A label whose value is the owner's uid. */
  owner_label: string
  page_size: number
}

/**
 * Creates a client for Secrets in the owner's namespace, with the owner as their controller.
 * `blockOwnerDeletion` is left out: with the admission plug-in OwnerReferencesPermissionEnforcement
 * it requires permission to change the owner's finalizers.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
 */
export function ownedSecrets(kube: KubeClient, options: OwnedSecretsOptions): SecretClient {
  const { namespace, uid } = options.owner
  const replace = (old: Secret, object: KubeDraft, more?: WriteOptions) =>
    kube.replace(secretResource, atVersionOf(old, object), more)
  return {
    read: async (name) => {
      try {
        return secretFrom(await kube.read(secretResource, { namespace, name }))
      } catch (error) {
        if (error instanceof KubeNotFound) return undefined
        throw error
      }
    },
    create: async (draft) =>
      secretFrom(await kube.create(secretResource, toOwnedObject(options, draft))),
    replace: async (old, draft) => secretFrom(await replace(old, toOwnedObject(options, draft))),
    disown: async (old, draft) => secretFrom(await replace(old, toObject(namespace, draft))),
    rehearse: async (draft, old) => {
      const object = toOwnedObject(options, draft)
      await (old === undefined
        ? kube.create(secretResource, object, { dry_run: true })
        : replace(old, object, { dry_run: true }))
    },
    remove: async (secret) => {
      const at = { namespace, name: secret.name }
      const { uid: secretUid, resource_version } = secret
      await kube
        .remove(secretResource, at, { uid: secretUid, resource_version })
        .catch(ignoreNotFound)
    },
    listOwned: () => listOwned(kube, options, uid),
  }
}

/** A resource owns a handful of Secrets; more pages than this point to a fault elsewhere. */
const pages_max = 20

async function listOwned(
  kube: KubeClient,
  { owner: { namespace }, owner_label, page_size }: OwnedSecretsOptions,
  uid: string,
): Promise<Secret[]> {
  const secrets: Secret[] = []
  let next: string | undefined
  for (let page = 0; page < pages_max; page += 1) {
    const label_selector = `${owner_label}=${uid}`
    const list = await kube.list(secretResource, { namespace, label_selector, page_size, next })
    secrets.push(...list.items.map(secretFrom).filter(({ owner_uid }) => owner_uid === uid))
    next = list.next
    if (next === undefined) break
  }
  return secrets
}

function atVersionOf({ uid, resource_version }: Secret, object: KubeDraft): KubeDraft {
  return { ...object, metadata: { ...object.metadata, uid, resourceVersion: resource_version } }
}

function toOwnedObject(
  { owner, labels, owner_label }: OwnedSecretsOptions,
  draft: SecretDraft,
): KubeDraft {
  const { apiVersion, kind, name, uid, namespace } = owner
  const object = toObject(namespace, draft)
  const metadata = {
    ...object.metadata,
    labels: { ...draft.labels, ...labels, [owner_label]: uid },
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  }
  return { ...object, metadata }
}

/** Builds a Secret without an owner and without the labels that the operator's watch selects. */
function toObject(namespace: string, draft: SecretDraft): KubeDraft {
  const { name, labels, annotations } = draft
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name, namespace, labels: { ...labels }, annotations: { ...annotations } },
    data: mapValues(draft.data, (value) => Buffer.from(value, 'utf8').toString('base64')),
  }
}

function secretFrom({ metadata, data }: KubeObject): Secret {
  const { name, namespace, uid, resourceVersion, labels, annotations, ownerReferences } = metadata
  return {
    name,
    namespace,
    uid,
    resource_version: resourceVersion,
    labels: labels ?? {},
    annotations: annotations ?? {},
    owner_uid: ownerReferences?.find(({ controller }) => controller === true)?.uid,
    data: Object.assign(
      Object.create(null),
      mapValues(data ?? {}, (value) => Buffer.from(value, 'base64').toString('utf8')),
    ),
  }
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof KubeNotFound)) throw error
}
