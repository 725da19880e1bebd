import { expect, test } from 'vitest'
import type { KubeObject } from '../../platform/kube/index.ts'
import { namespaceSink } from './start-operator.ts'

function namespace(name: string, uid: string, labels: Record<string, string>): KubeObject {
  const metadata = { namespace: '', name, uid, resourceVersion: '1', creationTimestamp: '', labels }
  return { metadata } as KubeObject
}

function createNoted() {
  const noted = new Map<string, object>()
  const sink = namespaceSink({
    setLabels: (name, labels) => void (labels ? noted.set(name, labels) : noted.delete(name)),
  })
  return { noted, sink }
}

test('labels are known until the namespace is deleted or missing in a list', () => {
  const { noted, sink } = createNoted()
  for (const name of ['a', 'b', 'c']) sink.changed(namespace(name, `${name}-1`, { team: name }))
  sink.changed(namespace('a', 'a-1', {}))
  sink.deleted(namespace('b', 'b-1', {}))
  sink.listed(new Set(['a-1']))
  expect([...noted]).toEqual([['a', {}]])
})

test('a namespace that was created again while the watch was interrupted keeps its labels', () => {
  const { noted, sink } = createNoted()
  sink.changed(namespace('a', 'first', { team: 'one' }))
  sink.listing()
  sink.changed(namespace('a', 'second', { team: 'two' }))
  sink.listed(new Set(['second']))
  sink.deleted(namespace('a', 'first', { team: 'one' }))
  expect([...noted]).toEqual([['a', { team: 'two' }]])
})
