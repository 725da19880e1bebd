import { expect, test } from 'vitest'
import { noteKind } from '../../test/support/kube/note-kind.ts'
import type { Kind } from '../operator/index.ts'
import type { KubeObject } from '../platform/kube/index.ts'
import { ageOf, tableOfResources, valueAt } from './get.ts'

test.each<[string, unknown]>([
  ['.a.b', 1],
  ['.a', { b: 1 }],
  ['.list[1].name', 'two'],
  ['.list[?(@.name=="one")].value', 'first'],
  ['.list[?(@.name=="three")].value', undefined],
  ['.a.b.c', undefined],
  ['.nothing.at.all', undefined],
])('%s', (path, expected) => {
  const object = { a: { b: 1 }, list: [{ name: 'one', value: 'first' }, { name: 'two' }] }
  expect(valueAt(object, path)).toEqual(expected)
})

test.each([
  [0, '0s'],
  [-5_000, '0s'],
  [90_000, '90s'],
  [150_000, '2m'],
  [25 * 3_600_000, '25h'],
  [72 * 3_600_000, '3d'],
])('%d ms ago is %s', (passed_ms, expected) => {
  expect(ageOf('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:00:00Z') + passed_ms)).toBe(
    expected,
  )
})

test('an invalid instant has no age', () => {
  expect([ageOf(undefined, 0), ageOf('soon', 0)]).toEqual(['', ''])
})

const created = '2026-01-01T00:00:00Z'
const options = { all_namespaces: true, wide: false, now_ms: Date.parse(created) + 300_000 }

function noteNamed(name: string, ready?: { status: string; message: string }): KubeObject {
  return {
    metadata: {
      name,
      namespace: 'team',
      uid: '1',
      resourceVersion: '1',
      creationTimestamp: created,
    },
    spec: { text: 'hi' },
    ...(ready && { status: { conditions: [{ type: 'Ready', reason: 'Synced', ...ready }] } }),
  }
}

test('a table has the columns of the kind and the message of Ready', () => {
  const items = [
    noteNamed('one', { status: 'True', message: 'It is.' }),
    noteNamed('two'),
    noteNamed('three', { status: 'False', message: 'x'.repeat(100) }),
  ]
  const kind = noteKind as Kind
  const [headings, one, two, three] = tableOfResources([{ kind, items }], options).split('\n')
  expect(headings).toMatch(/^NAMESPACE +NAME +READY +REASON +TEXT +LAST SYNC +AGE +MESSAGE$/)
  expect(one).toMatch(/^team +note\/one +True +Synced +hi +5m +It is\.$/)
  expect(two).toMatch(/^team +note\/two +hi +5m$/)
  expect(three).toMatch(/ x{79}…$/)
  expect(tableOfResources([{ kind, items }], { ...options, wide: true })).toContain('x'.repeat(100))
})

test('control characters of a message do not reach the terminal', () => {
  const items = [noteNamed('one', { status: 'False', message: '\u001b[2Jgone\nnext' })]
  const table = tableOfResources([{ kind: noteKind as Kind, items }], options)
  expect(table).toContain('\\u001b[2Jgone')
  expect(table).not.toContain('\u001b')
})

test('an empty list prints a message', () => {
  const kind = noteKind as Kind
  expect(tableOfResources([{ kind, items: [] }], options)).toBe('No resources found.\n')
})
