import { expect, test } from 'vitest'
import { compactBody, readBody } from '../query/body.ts'
import {
  changeText,
  costPanels,
  errorPanels,
  ingestPanel,
  latencyPanels,
  rangeBefore,
  totals,
  waste,
  wastePanels,
} from './panels.ts'

test('each question opens as the same query', () => {
  const of = [costPanels, errorPanels, latencyPanels, wastePanels].flatMap((each) => each('1h'))
  for (const body of [totals, waste, ...of.map((each) => each.body), ingestPanel('1h').body]) {
    expect(readBody(compactBody(body))).toEqual({ body, window: undefined })
  }
})

test('the range before has the same length and ends where the other begins', () => {
  const window = { from: '2026-11-28T12:00:00.000Z', to: '2026-11-29T00:00:00.000Z' }
  expect(rangeBefore(window)).toEqual({ from: '2026-11-28T00:00:00.000Z', to: window.from })
})

test.each([
  [112, 100, '12 % more than before'],
  [50, 100, '50 % less than before'],
  [100, 100.1, 'as much as before'],
  [5, 0, undefined],
  [null, 5, undefined],
])('%s after %s is %s', (now, before, text) => {
  expect(changeText(now, before)).toBe(text)
})
