import { expect, test } from 'vitest'
import { changesOf } from './changes-of.ts'

const none = { opened: [], updated: [], recovered: [], withdrawn: [], unchanged: [] }

test('what was opened stays opened, whatever a later look says of it', () => {
  const looks = [
    { ...none, opened: ['a'], unchanged: ['b', 'c'] },
    { ...none, opened: ['d'], withdrawn: ['c'] },
    { ...none, updated: ['a'], unchanged: ['b', 'd'] },
  ]
  const opened = ['a', 'd']
  expect(changesOf(looks)).toEqual({ ...none, opened, withdrawn: ['c'], unchanged: ['b'] })
})

test('what recovered was updated too, and is told once', () => {
  const looks = [
    { ...none, updated: ['a', 'b'] },
    { ...none, recovered: ['a'], unchanged: ['b'] },
  ]
  expect(changesOf(looks)).toEqual({ ...none, updated: ['b'], recovered: ['a'] })
})
