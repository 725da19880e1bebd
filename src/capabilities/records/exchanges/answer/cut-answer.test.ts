import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import { readCutAnswer } from './cut-answer.ts'

const usage = { prompt_tokens: 7, details: { cached: { audio: 1 } } }

test('usage before the content of an answer that was cut is read', () => {
  const whole = JSON.stringify({ id: 'r1', model: 'm', usage, data: ['x'.repeat(10_000)] })
  expect(readCutAnswer(whole.slice(0, 9_000))).toEqual({ id: 'r1', model: 'm', usage })
})

test('usage in the end is that of the whole answer', () => {
  const text = `{"usage":{"prompt_tokens":1},"data":["${'x'.repeat(9_000)}"],"usage":{"prompt_tokens":2}}`
  expect(readCutAnswer(text).usage).toEqual({ prompt_tokens: 2 })
})

test('what the content says is not usage', () => {
  const said = JSON.stringify({ usage: { prompt_tokens: 9 } })
  const content = { text: said, inner: { usage: { prompt_tokens: 8 } }, list: [{ usage }] }
  const whole = JSON.stringify({ content, more: 'x'.repeat(9_000) })
  expect(readCutAnswer(whole.slice(0, 8_000)).usage).toBeUndefined()
})

test('a cut anywhere after the usage finds it, and no cut throws', () => {
  const members = fc.dictionary(fc.constantFrom('a', 'b', '"', 'id'), fc.jsonValue(), {
    maxKeys: 3,
  })
  const spaces = fc.constantFrom(0, 2)
  fc.assert(
    fc.property(members, fc.jsonValue(), spaces, fc.nat(), (before, after, indent, cut) => {
      const head = JSON.stringify({ ...before, usage }, null, indent)
      const text = `${head.slice(0, -1)},"data":${JSON.stringify(after)}`
      const from = head.length
      const end = from + (cut % (text.length - from + 1))
      const tail = 'x'.repeat(5_000)
      expect(readCutAnswer(`${text.slice(0, end)}${tail}`).usage).toEqual(usage)
      readCutAnswer(text.slice(0, cut % text.length))
    }),
    { numRuns: fuzzRuns(1_000) },
  )
})
