import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Listed, SlotList } from './slot-list.ts'

test('equals a set after any insertions and removals', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(), { nil: undefined })), (steps) => {
      const list = new SlotList<Listed>()
      const set = new Set<Listed>()
      for (const step of steps) {
        const members = [...set]
        const leaves = step === undefined ? undefined : members[step % (members.length + 1)]
        if (leaves) {
          list.remove(leaves)
          set.delete(leaves)
        } else {
          const member = { slot: 0 }
          list.add(member)
          set.add(member)
        }
        expect(list.size).toBe(set.size)
        expect(new Set(list.all())).toEqual(set)
        expect(list.all().map(({ slot }) => slot)).toEqual([...list.all().keys()])
      }
    }),
  )
})

test('members may be removed during iteration', () => {
  const list = new SlotList<Listed>()
  for (let i = 0; i < 5; i += 1) list.add({ slot: 0 })
  for (const member of list.all()) list.remove(member)
  expect(list.size).toBe(0)
})
