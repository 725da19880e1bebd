import { expect, test } from 'vitest'
import { judgeTextAgent, type TextAgentRecord } from '../bench/detection/text-agents.ts'
import { readRecords } from '../bench/verification/packed-records.ts'

/** The half that the reading of text agents was mended on: floors that no change may go below. */
const records = readRecords<TextAgentRecord>('bench/detection/corpus/text-agents/tuning.jsonl.gz')
const verdicts = records.map(judgeTextAgent)
const loops: readonly string[] = ['loop', 'cycle', 'repeated_error']

test('the steps of text agents are read', () => {
  const labelled = records.flatMap(({ steps }) => steps).length
  const sum = (count: (one: (typeof verdicts)[number]) => number) =>
    verdicts.reduce((total, one) => total + count(one), 0)
  const found = sum((one) => one.found)
  expect(labelled).toBe(235)
  expect(found / labelled).toBeGreaterThanOrEqual(0.98)
  expect(found / (found + sum(({ extra }) => extra.length))).toBeGreaterThanOrEqual(0.98)
  expect(sum((one) => one.same_arguments) / found).toBeGreaterThanOrEqual(0.98)
  expect(sum((one) => one.same_result) / found).toBeGreaterThanOrEqual(0.98)
})

test('their loops and hidden errors are found, and healthy runs stay clean', () => {
  const missed = (kinds: readonly string[]) =>
    verdicts
      .filter(
        ({ record, is_fault_found }) =>
          kinds.includes(record.fault?.kind ?? '') && is_fault_found !== true,
      )
      .map(({ record }) => record.id)
  expect(missed(loops)).toEqual([])
  expect(missed(['hidden_tool_error']).length).toBeLessThanOrEqual(1)
  const healthy = verdicts.filter(({ record }) => record.outcome === 'healthy')
  expect(healthy.length).toBe(29)
  expect(
    healthy.flatMap(({ record, flags }) => flags.map(({ type }) => `${record.id} ${type}`)),
  ).toEqual([])
})
