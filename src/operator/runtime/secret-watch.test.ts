import { expect, test } from 'vitest'
import { thing } from '../../../test/support/scripted-kube.ts'
import type { KubeObject } from '../../platform/kube/index.ts'
import { findOwner, secretSink } from './secret-watch.ts'

function secret(name: string, version: number, owner?: string): KubeObject {
  const made = thing(name, version)
  const reference = {
    ...{ apiVersion: 'looptrace.dev/v1alpha1', kind: 'LooptraceServiceAccount' },
    ...{ uid: 'owner', controller: true },
  }
  const ownerReferences = owner === undefined ? [] : [{ ...reference, name: owner }]
  return { ...made, metadata: { ...made.metadata, ownerReferences } }
}

function watched() {
  const notified: string[] = []
  return {
    notified,
    sink: secretSink(({ kind, key }) => notified.push(`${kind} ${key}`), findOwner),
  }
}

const [a, b] = ['LooptraceServiceAccount team/a', 'LooptraceServiceAccount team/b']

test('notifies the owner once per version of its Secret, and of the deletion', () => {
  const { notified, sink } = watched()
  sink.changed(secret('key', 1, 'a'))
  sink.changed(secret('key', 1, 'a'))
  sink.changed(secret('key', 2, 'a'))
  sink.deleted(secret('key', 3, 'a'))
  sink.deleted(secret('key', 3, 'a'))
  expect(notified).toEqual([a, a, a])
})

test('a change of owner notifies both owners, the loss of the owner the former one', () => {
  const { notified, sink } = watched()
  sink.changed(secret('key', 1, 'a'))
  sink.changed(secret('key', 2, 'b'))
  sink.changed(secret('key', 3))
  sink.changed(secret('key', 4))
  expect(notified).toEqual([a, a, b, b])
})

test('a list notifies the owners of missing Secrets', () => {
  const { notified, sink } = watched()
  sink.changed(secret('key', 1, 'a'))
  sink.changed(secret('other', 1, 'b'))
  notified.length = 0
  sink.listing()
  sink.changed(secret('other', 1, 'b'))
  sink.listed(new Set(['uid-other']))
  expect(notified).toEqual([a])
})
