import { type LabelSelector, type Labels, matchesLabels } from '../tenancy/grant.ts'
import { createReflector, type Reflector, type ReflectorOptions } from './reflector.ts'

/** The namespaces whose resources the operator serves. */
export type NamespaceGate = {
  /** Whether a selector chooses the namespaces. */
  isSelective: boolean
  /** Whether resources of the namespace are served; always for a cluster-scoped resource. */
  serves(namespace: string | undefined): boolean
  /** Notes the labels of a namespace; undefined when it is gone. */
  setLabels(namespace: string, labels: Labels | undefined): void
  /** Calls the listener after a namespace began or ceased to match. */
  onChange(listener: (namespace: string) => void): void
  /** Returns the number of namespaces that match. */
  count(): number
}

/**
 * Creates the gate of a selector; without one every namespace is served. Until the labels of a
 * namespace are known, it is not. Only names of matching namespaces are kept.
 */
export function createNamespaceGate(selector: LabelSelector | undefined): NamespaceGate {
  const served = new Set<string>()
  const listeners: ((namespace: string) => void)[] = []
  const isSelective = selector !== undefined
  return {
    isSelective,
    serves: (namespace = '') => !isSelective || namespace === '' || served.has(namespace),
    setLabels: (namespace, labels) => {
      if (!isSelective) return
      const isServed = labels !== undefined && matchesLabels(selector, labels)
      if (isServed === served.has(namespace)) return
      if (isServed) served.add(namespace)
      else served.delete(namespace)
      for (const listener of listeners) listener(namespace)
    },
    onChange: (listener) => void listeners.push(listener),
    count: () => served.size,
  }
}

/** The reflector of a gate, which leaves out the objects of namespaces that are not served. */
export type GatedReflector = Reflector & {
  /** Notes that an object of the namespace was left out, so that a later match lists again. */
  leaveOut(namespace: string): void
}

/** How often a reflector checks whether the labels of namespaces are known. */
const check_ms = 100

/**
 * Creates a reflector whose sink gets no object of a namespace that is not served. Of these objects
 * only the names of their namespaces are kept: when such a namespace begins to match, everything is
 * listed again, because a list of one namespace could bring back an object that was deleted since.
 * A namespace without objects costs nothing.
 */
export function createGatedReflector(
  gate: NamespaceGate,
  options: ReflectorOptions & {
    /** Whether the labels of all namespaces are known; the first list waits for it. */
    areLabelsKnown: () => boolean
  },
): GatedReflector {
  if (!gate.isSelective) return { ...createReflector(options), leaveOut: () => undefined }
  const { sink, timing, areLabelsKnown } = options
  const leftOut = new Set<string>()
  /** Uids that a list in progress passed on. */
  let passed: Set<string> | undefined
  const reflector = createReflector({
    ...options,
    sink: {
      listing: () => {
        leftOut.clear()
        passed = new Set()
        sink.listing()
      },
      changed: (object) => {
        const { namespace, uid } = object.metadata
        if (!gate.serves(namespace)) return void leftOut.add(namespace)
        passed?.add(uid)
        sink.changed(object)
      },
      deleted: sink.deleted,
      listed: () => {
        sink.listed(passed ?? new Set())
        passed = undefined
      },
    },
  })
  gate.onChange((namespace) => {
    if (gate.serves(namespace) && leftOut.has(namespace)) reflector.relist('namespace')
  })
  return {
    ...reflector,
    leaveOut: (namespace) => void leftOut.add(namespace),
    run: async (signal) => {
      while (!signal.aborted && !areLabelsKnown()) await timing.sleep(check_ms, signal)
      await reflector.run(signal)
    },
  }
}
