import { type KubeClient, type KubeObject, secretResource } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { apiVersion } from '../contract.ts'
import { secretLabels } from '../names.ts'
import { createGatedReflector, type NamespaceGate } from './namespace-gate.ts'
import type { OperatorSettings } from './operator-settings.ts'
import type { Reflector, ReflectorSink } from './reflector.ts'
import type { Timing } from './timing.ts'

export type SecretWatchOptions = {
  kube: KubeClient
  timing: Timing
  logger: Logger
  settings: OperatorSettings
  gate: NamespaceGate
  areLabelsKnown: () => boolean
  /** Called when a Secret of this resource was changed or deleted. */
  onChange: (owner: { kind: string; key: string }) => void
}

/** The owner and the last version of a Secret. */
type Seen = { version: string; owner: { kind: string; key: string }; namespace: string }

/**
 * Watches the Secrets that the operator created, selected by their label, and reports changes to
 * their owners. It requests metadata only, so no values of Secrets are kept in memory.
 */
export function watchSecrets(options: SecretWatchOptions): Reflector[] {
  const { settings } = options
  const namespaces = settings.namespaces.length === 0 ? [undefined] : settings.namespaces
  return namespaces.map((namespace) =>
    createGatedReflector(options.gate, {
      ...options,
      resource: secretResource,
      namespace,
      label_selector: labelSelector,
      metadata_only: true,
      sink: secretSink(options.onChange),
    }),
  )
}

const labelSelector = Object.entries(secretLabels)
  .map(([name, value]) => `${name}=${value}`)
  .join(',')

/** Creates a sink that reports each version once, and both owners when the owner changes. */
export function secretSink(onChange: SecretWatchOptions['onChange']): ReflectorSink {
  const byUid = new Map<string, Seen>()
  const drop = (uid: string) => {
    const seen = byUid.get(uid)
    byUid.delete(uid)
    if (seen !== undefined) onChange(seen.owner)
  }
  return {
    listing: () => undefined,
    changed: (object) => {
      const { uid, namespace, resourceVersion } = object.metadata
      const before = byUid.get(uid)
      if (before?.version === resourceVersion) return
      const owner = findOwner(object)
      if (before !== undefined && before.owner.key !== owner?.key) drop(uid)
      if (owner === undefined) return
      byUid.set(uid, { version: resourceVersion, owner, namespace })
      onChange(owner)
    },
    deleted: (object) => drop(object.metadata.uid),
    listed: (uids) => {
      for (const uid of [...byUid.keys()]) if (!uids.has(uid)) drop(uid)
    },
  }
}

function findOwner({ metadata }: KubeObject): Seen['owner'] | undefined {
  const owner = metadata.ownerReferences?.find(
    (reference) => reference.controller === true && reference.apiVersion === apiVersion,
  )
  if (owner === undefined) return undefined
  return { kind: owner.kind, key: `${metadata.namespace}/${owner.name}` }
}
