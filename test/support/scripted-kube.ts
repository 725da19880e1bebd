import type {
  KubeClient,
  KubeList,
  KubeObject,
  ListOptions,
  WatchEvent,
  WatchOptions,
} from '../../src/platform/kube/index.ts'

/** A watch whose messages a test writes. */
type ScriptedWatch = {
  options: WatchOptions
  say(event: WatchEvent): void
  end(): void
  fail(error: Error): void
}

/** Lists and watches of the API server, written by a test. */
export type ScriptedKube = {
  kube: KubeClient
  lists: ListOptions[]
  watches: ScriptedWatch[]
  /** Answers of the next lists, in order; the last one repeats. */
  answer(...answers: (KubeList | Error)[]): void
}

export function scriptedKube(): ScriptedKube {
  const lists: ListOptions[] = []
  const watches: ScriptedWatch[] = []
  let answers: (KubeList | Error)[] = []
  const unasked = () => Promise.reject(new Error('not a part of this test'))
  const kube: KubeClient = {
    ...{ read: unasked, create: unasked, replace: unasked },
    ...{ patch: unasked, apply: unasked, remove: unasked },
    list: async (_resource, options) => {
      lists.push(options)
      const next = answers.length > 1 ? answers.shift() : answers[0]
      if (next instanceof Error || next === undefined) throw next ?? new Error('nothing to answer')
      return next
    },
    watch: (_resource, options) => {
      const { readable, writable } = new TransformStream<WatchEvent, WatchEvent>()
      const writer = writable.getWriter()
      const quiet = (said: Promise<void>) => void said.catch(() => undefined)
      watches.push({
        options,
        say: (event) => quiet(writer.write(event)),
        end: () => quiet(writer.close()),
        fail: (error) => quiet(writer.abort(error)),
      })
      return readable
    },
  }
  return {
    kube,
    lists,
    watches,
    answer: (...next) => {
      answers = next
    },
  }
}

/** An object of a kind for tests. */
export function thing(name: string, version: number, more: Partial<KubeObject> = {}): KubeObject {
  return {
    ...more,
    metadata: {
      ...{ name, namespace: 'team', uid: `uid-${name}`, resourceVersion: String(version) },
      ...{ generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
      ...more.metadata,
    },
  }
}
