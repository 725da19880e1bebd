import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../test/corpus/agent-run.ts'
import { findingsOf } from '../../../../test/support/failure-findings.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import {
  findingDeclarations,
  findingKinds,
  verificationTypes,
} from '../../../model/finding-kind.ts'
import { maxFindingPlaces } from '../contract.ts'
import { detectors, failureDetectors } from './index.ts'

const send = { name: 'send_email', args: { to: 'a' } }

/** Events of a run, good and bad. */
const deeds: readonly ((run: AgentRun) => AgentRun)[] = [
  (run) => run.user('Go on, twice.'),
  (run) => run.assistant('Done! It was sent.'),
  (run) => run.assistant(''),
  (run) => run.assistant({ text: 'x', finish_reason: 'length' }),
  (run) => run.assistant({ refusal: 'No.' }),
  (run) => run.assistant('Now I will send it.'),
  (run) => run.assistant({ error: { status: 429 } }),
  (run) => run.assistant({ error: { status: 401 } }),
  (run) => run.assistant({ text: 'half', partial: true }),
  (run) => run.assistant({ calls: [send, { name: 'look', args: '{"a":' }] }),
  (run) => run.tool(send, 'sent'),
  (run) => run.tool(send, 'Error: refused'),
  (run) => run.tool(send, 'HTTP 503 Service Unavailable'),
  (run) => run.tool({ name: 'made_up' }, 'Error: unknown tool'),
  (run) => run.results([{ text: 'x', id: 'call_z' }]),
  (run) => run.truncate(1),
  (run) => run.parallel((one) => one.user('Sub').tool(send, 'Error: no').assistant('1')),
]

test('names of detectors are unique', () => {
  expect(new Set(detectors.map(({ name }) => name)).size).toBe(detectors.length)
})

test('the model names the types of all detectors, by their kind', () => {
  for (const kind of findingKinds) {
    const declared = detectors.filter((one) => one.kind === kind).flatMap(({ types }) => types)
    const own = findingDeclarations[kind].types.filter(
      (type) => !verificationTypes.some((one) => one === type),
    )
    expect([...new Set(declared)].sort()).toEqual(own.toSorted())
  }
})

test('findings are valid for every run', () => {
  const source = fc.constantFrom('proxy', 'otlp', 'otlp_openinference', 'otlp_no_content')
  const state = fc.constantFrom('running', 'completed', 'failed')
  const happened = fc.array(fc.constantFrom(...deeds), { minLength: 1, maxLength: 14 })
  fc.assert(
    fc.property(source, state, happened, (from, now, all) => {
      const run = all.reduce(
        (so_far, deed) => deed(so_far),
        agentRun('any', { source: from, tools: ['send_email', 'look'] }).user('Send it.'),
      )
      const found = failureDetectors.flatMap((detector) =>
        findingsOf(detector, run, { state: now }),
      )
      const keys = found.map(({ type, anchor }) => `${type} ${anchor}`)
      expect(new Set(keys).size).toBe(keys.length)
      for (const { places, evidence, summary, recovered, severity, confidence } of found) {
        expect(places.length).toBeGreaterThan(0)
        expect(places.length).toBeLessThanOrEqual(maxFindingPlaces)
        expect(() => JSON.stringify(evidence)).not.toThrow()
        expect(summary).toMatch(/\.$/)
        expect(confidence).toBeGreaterThan(0)
        if (recovered) expect(['info', 'low', 'medium']).toContain(severity)
      }
    }),
    { numRuns: fuzzRuns(60) },
  )
})
