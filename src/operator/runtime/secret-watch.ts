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
}

/** A resource that owns a Secret, or a Secret itself; the key is `namespace/name`. */
export type SecretSubject = { kind: string; key: string }

type OnChange = (subject: SecretSubject) => void

/**
 * Watches the Secrets that the operator created, selected by their label, and reports the owner of
 * each that was changed or deleted.
 */
export function watchOwnedSecrets(options: SecretWatchOptions, onChange: OnChange): Reflector[] {
  return watchSecrets(options, ownedSelector, secretSink(onChange, findOwner))
}

/** Watches the Secrets with a label, and reports each that was changed, deleted or relabelled. */
export function watchLabelledSecrets(
  options: SecretWatchOptions,
  label_selector: string,
  onChange: OnChange,
): Reflector[] {
  return watchSecrets(options, label_selector, secretSink(onChange, nameSecret))
}

/** Watches Secrets by label. It requests metadata only, so no values are kept in memory. */
function watchSecrets(
  options: SecretWatchOptions,
  label_selector: string,
  sink: ReflectorSink,
): Reflector[] {
  const { settings } = options
  const namespaces = settings.namespaces.length === 0 ? [undefined] : settings.namespaces
  return namespaces.map((namespace) =>
    createGatedReflector(options.gate, {
      ...options,
      resource: secretResource,
      namespace,
      label_selector,
      metadata_only: true,
      sink,
    }),
  )
}

const ownedSelector = Object.entries(secretLabels)
  .map(([name, value]) => `${name}=${value}`)
  .join(',')

/** The subject and the last version of a Secret. */
type Seen = { version: string; subject: SecretSubject }

/** Creates a sink that reports each version once, and both subjects when the subject changes. */
export function secretSink(
  onChange: OnChange,
  findSubject: (secret: KubeObject) => SecretSubject | undefined,
): ReflectorSink {
  const byUid = new Map<string, Seen>()
  const drop = (uid: string) => {
    const seen = byUid.get(uid)
    byUid.delete(uid)
    if (seen !== undefined) onChange(seen.subject)
  }
  return {
    listing: () => undefined,
    changed: (object) => {
      const { uid, resourceVersion } = object.metadata
      const before = byUid.get(uid)
      if (before?.version === resourceVersion) return
      const subject = findSubject(object)
      if (before !== undefined && before.subject.key !== subject?.key) drop(uid)
      if (subject === undefined) return
      byUid.set(uid, { version: resourceVersion, subject })
      onChange(subject)
    },
    deleted: (object) => drop(object.metadata.uid),
    listed: (uids) => {
      for (const uid of [...byUid.keys()]) if (!uids.has(uid)) drop(uid)
    },
  }
}

/** Returns the resource that owns a Secret. */
export function findOwner({ metadata }: KubeObject): SecretSubject | undefined {
  const owner = metadata.ownerReferences?.find(
    (reference) => reference.controller === true && reference.apiVersion === apiVersion,
  )
  if (owner === undefined) return undefined
  return { kind: owner.kind, key: `${metadata.namespace}/${owner.name}` }
}

function nameSecret({ metadata: { namespace, name } }: KubeObject): SecretSubject {
  return { kind: 'Secret', key: `${namespace}/${name}` }
}
