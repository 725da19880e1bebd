import { expect, test } from 'vitest'
import type { StoredValue } from '../contract.ts'
import { withSeenValues } from './kb-values.ts'
import type { KbResult } from './kb-verdict.ts'

const open: KbResult = {
  ...{ verdict: 'not_found', confidence: 0.5, method: 'words', evidence: [] },
  note: 'no passage says this',
}

const value = (written: string, verdict: StoredValue['verdict'], more: Partial<StoredValue> = {}) =>
  ({
    ...{ value: written, kind: 'money', at: [0, 1], verdict, derivation: null, reason: null },
    evidence: [{ kind: 'trace', source: 'tool', quote: written, at: [0, 1], digest: null }],
    ...more,
  }) satisfies StoredValue

const noteOf = (...values: StoredValue[]) =>
  withSeenValues({ text: 'A claim.', at: [0, 8], values }, open)

test('values that were seen are the evidence of an open claim', () => {
  expect(noteOf(value('$12', 'seen'), value('$30', 'seen'))).toMatchObject({
    ...{ verdict: 'unverifiable', method: 'provenance' },
    note: 'the agent saw "$12" and "$30"; no passage says the rest',
  })
})

test('a computed value is not called seen: its calculation is shown', () => {
  const computed = value('$437', 'derived', { derivation: '230 + 207' })
  expect(noteOf(computed).note).toBe('"$437" (230 + 207) is computed; no passage says the rest')
  expect(noteOf(value('$12', 'seen'), computed).note).toBe(
    'the agent saw "$12"; "$437" (230 + 207) is computed; no passage says the rest',
  )
})

test('a value that needs no source is not called seen', () => {
  const note = 'the agent saw "$12"; "25 %" was not looked up; no passage says the rest'
  const share = value('25 %', 'exempt', { reason: 'example', evidence: [] })
  expect(noteOf(value('$12', 'seen'), share).note).toBe(note)
  expect(noteOf(share)).toBe(open)
})

test('a value without a source is named, and the claim stays not found', () => {
  const doubt = value('$437', 'not_checked', { reason: 'calculable', evidence: [] })
  expect(noteOf(value('$12', 'seen'), doubt)).toMatchObject({
    verdict: 'not_found',
    note: 'no passage says this; "$437" was not found in what the agent saw',
  })
  expect(noteOf()).toBe(open)
})

test('a long list of values is cut', () => {
  const many = Array.from({ length: 8 }, (_, at) => value(`$${at}`, 'seen'))
  expect(noteOf(...many).note).toBe(
    'the agent saw "$0", "$1", "$2" and 5 more; no passage says the rest',
  )
})
