import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeKinds } from '../../model/change-hint.ts'
import { decodeChanges, encodeChanges, maxChangedIds, PendingChanges } from './pending-changes.ts'

const hints = fc.array(
  fc.record({
    kind: fc.constantFrom(...changeKinds),
    id: fc.integer({ min: 0, max: 150 }).map(String),
    version: fc.integer({ min: 1 }),
  }),
  { maxLength: 600 },
)

test('a message has each changed id once with its last version, or says that there are more', () => {
  fc.assert(
    fc.property(hints, (given) => {
      const pending = new PendingChanges()
      for (const hint of given) pending.add({ project_id: 'p', ...hint })
      const message = decodeChanges(encodeChanges(pending.list())) ?? []
      for (const kind of changeKinds) {
        const own = given.filter((hint) => hint.kind === kind)
        const ids = [...new Set(own.map(({ id }) => id))]
        const shown = message.find((changes) => changes.kind === kind)
        expect(shown === undefined).toBe(own.length === 0)
        expect(shown?.changed.map(({ id }) => id) ?? []).toEqual(ids.slice(0, maxChangedIds))
        expect(shown?.many ?? false).toBe(ids.length > maxChangedIds)
        for (const { id, version } of shown?.changed ?? []) {
          expect(version).toBe(own.findLast((hint) => hint.id === id)?.version)
        }
      }
    }),
  )
})

test.each(['', '{', '{}', '[{"kind":"planet","changed":[],"many":false}]'])(
  'a message that another version sent (%j) is left out',
  (text) => expect(decodeChanges(Buffer.from(text))).toBeUndefined(),
)
