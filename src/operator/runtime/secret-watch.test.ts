import { expect, test } from 'vitest'
import { thing } from '../../../test/support/scripted-kube.ts'
import type { KubeObject } from '../../platform/kube/index.ts'
import { secretSink } from './secret-watch.ts'

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
  const told: string[] = []
  return { told, sink: secretSink(({ kind, key }) => told.push(`${kind} ${key}`)) }
}

const [a, b] = ['LooptraceServiceAccount team/a', 'LooptraceServiceAccount team/b']

test('an owner hears of each version of its Secret once, and of its end', () => {
  const { told, sink } = watched()
  sink.changed(secret('key', 1, 'a'))
  sink.changed(secret('key', 1, 'a'))
  sink.changed(secret('key', 2, 'a'))
  sink.deleted(secret('key', 3, 'a'))
  sink.deleted(secret('key', 3, 'a'))
  expect(told).toEqual([a, a, a])
})

test('both hear of a Secret that changes hands, the old one of one that has none any more', () => {
  const { told, sink } = watched()
  sink.changed(secret('key', 1, 'a'))
  sink.changed(secret('key', 2, 'b'))
  sink.changed(secret('key', 3))
  sink.changed(secret('key', 4))
  expect(told).toEqual([a, a, b, b])
})

test('a list tells of those that are gone', () => {
  const { told, sink } = watched()
  sink.changed(secret('key', 1, 'a'))
  sink.changed(secret('other', 1, 'b'))
  told.length = 0
  sink.listing()
  sink.changed(secret('other', 1, 'b'))
  sink.listed(new Set(['uid-other']))
  expect(told).toEqual([a])
})
