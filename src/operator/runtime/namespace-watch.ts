import type { KubeClient, KubeObject, KubeResource } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { GrantBook } from '../tenancy/grant-book.ts'
import type { NamespaceGate } from './namespace-gate.ts'
import type { OperatorSettings } from './operator-settings.ts'
import { createReflector, type Reflector, type ReflectorSink } from './reflector.ts'
import type { Timing } from './timing.ts'

const namespaces: KubeResource = { group: '', version: 'v1', plural: 'namespaces' }

/** How often the watch checks whether there is a selector. */
const check_ms = 100

/**
 * Watches the labels of namespaces for the grants and the gate, once one of them has a selector.
 * Without a selector it sends nothing and needs no permission.
 */
export function watchNamespaces(options: {
  kube: KubeClient
  timing: Timing
  logger: Logger
  settings: OperatorSettings
  book: GrantBook
  gate: NamespaceGate
}): Reflector {
  const { book, gate, timing } = options
  const isNeeded = () => gate.isSelective || book.hasSelectors()
  const sink = namespaceSink({
    setLabels: (namespace, labels) => {
      book.setLabels(namespace, labels)
      gate.setLabels(namespace, labels)
    },
  })
  const reflector = createReflector({
    ...options,
    ...{ resource: namespaces, namespace: undefined, metadata_only: true, sink },
  })
  return {
    ...reflector,
    unsynced: () => (isNeeded() ? reflector.unsynced() : null),
    run: async (signal) => {
      while (!signal.aborted && !isNeeded()) await timing.sleep(check_ms, signal)
      await reflector.run(signal)
    },
  }
}

/** Creates a sink that passes the labels of namespaces on. */
export function namespaceSink({ setLabels }: Pick<GrantBook, 'setLabels'>): ReflectorSink {
  const uidByName = new Map<string, string>()
  const drop = (name: string) => {
    uidByName.delete(name)
    setLabels(name, undefined)
  }
  return {
    listing: () => undefined,
    changed: ({ metadata: { name, uid, labels = {} } }: KubeObject) => {
      uidByName.set(name, uid)
      setLabels(name, labels)
    },
    // Another namespace of the name may have been created since.
    deleted: ({ metadata: { name, uid } }) => {
      if (uidByName.get(name) === uid) drop(name)
    },
    listed: (uids) => {
      for (const [name, uid] of [...uidByName]) if (!uids.has(uid)) drop(name)
    },
  }
}
