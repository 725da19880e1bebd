import type { KubeClient, KubeObject, KubeResource } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { GrantBook } from '../tenancy/grant-book.ts'
import type { OperatorSettings } from './operator-settings.ts'
import { createReflector, type Reflector, type ReflectorSink } from './reflector.ts'
import type { Timing } from './timing.ts'

const namespaces: KubeResource = { group: '', version: 'v1', plural: 'namespaces' }

/** How often the watch checks whether a grant has a selector. */
const check_ms = 100

/**
 * Watches the labels of namespaces once a grant selects namespaces by labels. Without such a grant
 * it sends nothing and needs no permission.
 */
export function watchNamespaces(options: {
  kube: KubeClient
  timing: Timing
  logger: Logger
  settings: OperatorSettings
  book: GrantBook
}): Reflector {
  const { book, timing } = options
  const sink = namespaceSink(book)
  const reflector = createReflector({
    ...options,
    ...{ resource: namespaces, namespace: undefined, metadata_only: true, sink },
  })
  return {
    unsynced: () => (book.hasSelectors() ? reflector.unsynced() : null),
    run: async (signal) => {
      while (!signal.aborted && !book.hasSelectors()) await timing.sleep(check_ms, signal)
      await reflector.run(signal)
    },
  }
}

/** Creates a sink that writes the labels of namespaces to the book. */
export function namespaceSink(book: Pick<GrantBook, 'setLabels'>): ReflectorSink {
  const byUid = new Map<string, string>()
  const drop = (uid: string) => {
    const name = byUid.get(uid)
    byUid.delete(uid)
    if (name !== undefined) book.setLabels(name, undefined)
  }
  return {
    listing: () => undefined,
    changed: ({ metadata }: KubeObject) => {
      byUid.set(metadata.uid, metadata.name)
      book.setLabels(metadata.name, metadata.labels ?? {})
    },
    deleted: ({ metadata }) => drop(metadata.uid),
    listed: (uids) => {
      for (const uid of [...byUid.keys()]) if (!uids.has(uid)) drop(uid)
    },
  }
}
