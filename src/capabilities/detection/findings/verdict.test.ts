import { describe, expect, test } from 'vitest'
import { agentRun, type RunSource } from '../../../../test/corpus/agent-run.ts'
import { findingsOf, runOf } from '../../../../test/support/failure-findings.ts'
import { failureDetectors } from '../detectors/index.ts'
import { defaultDetectionSettings } from '../settings/detector-settings.ts'
import type { NotChecked } from './finding.ts'
import { analyseRun } from './new-findings.ts'
import { findRootCause, writeVerdictSentence } from './verdict.ts'

const all = (run: ReturnType<typeof agentRun>) =>
  failureDetectors.flatMap((detector) => findingsOf(detector, run))

const mail = { name: 'send_email', args: { to: 'team@example.org' } }
const failed = () =>
  agentRun('cause', { tools: ['send_email'] })
    .user('Send the minutes.')
    .assistant({ error: { status: 429, type: 'rate_limit_exceeded' } })
    .tool(mail, 'Error: mailbox is full')
    .assistant('I have sent the minutes.')

describe('the root cause', () => {
  test('is the earliest unrecovered failure', () => {
    const run = failed()
    const findings = all(run)
    expect(findings.map(({ type }) => type).sort()).toEqual([
      'false_success',
      'provider_rate_limit',
      'tool_failure',
    ])
    const cause = findRootCause(findings, runOf(run))
    expect(cause).toMatchObject({ kind: 'failure', type: 'tool_failure', step: 0 })
    expect(cause?.evidence['result']).toContain('mailbox is full')
    expect(cause?.place).toMatchObject({ observation_id: expect.any(String) })
    expect(findRootCause(findings.toReversed(), runOf(run))).toEqual(cause)
  })

  test('is a failed call if no step was reached', () => {
    const run = agentRun('401')
      .user('Hi')
      .assistant({ error: { status: 401 } })
    expect(findRootCause(all(run), runOf(run))).toMatchObject({ type: 'provider_auth', step: null })
  })

  test('is null if everything recovered', () => {
    const run = agentRun('fine')
      .user('Hi')
      .assistant({ error: { status: 500 } })
      .assistant('Hello')
    expect(all(run)).toHaveLength(1)
    expect(findRootCause(all(run), runOf(run))).toBeNull()
  })
})

describe('the verdict is one sentence', () => {
  test('with the number of values that were not checked, also without a finding', () => {
    const run = agentRun('talk').user('How many?').assistant('94,703.')
    const sentenceOf = (not_checked: number, checked = 1) =>
      writeVerdictSentence([], runOf(run), { state: 'completed', values: { checked, not_checked } })
    expect(sentenceOf(2)).toContain('nothing wrong found; 2 of 3 values were not checked.')
    expect(sentenceOf(1, 0)).toContain('; 1 of 1 value was not checked.')
    expect(sentenceOf(0)).not.toContain('checked')
  })

  test('with the cause, its step, and other findings', () => {
    const sentence = writeVerdictSentence(all(failed()), runOf(failed()), { state: 'completed' })
    expect(sentence).toMatch(
      /^The task was completed but went wrong at step 1: The tool “send_email”/,
    )
    expect(sentence).toContain('also found: false_success')
    expect(sentence).toMatch(/tokens \(\$0\.\d+\) wasted\.$/)
  })

  test('with the size of the task if nothing was found', () => {
    const run = agentRun('ok').user('Hi').tool({ name: 'look' }, 'x').assistant('Here.')
    expect(writeVerdictSentence([], runOf(run), { state: 'running' })).toBe(
      'The task runs after 2 steps and 1 tool call with nothing wrong found.',
    )
    expect(writeVerdictSentence([], runOf(run), { state: 'failed' })).toContain(
      'nothing found in it tells why',
    )
  })

  test('with the checks that did not run, why, and how to send what they need', () => {
    const checksOf = (source: RunSource, more: readonly NotChecked[] = []) => {
      const run = runOf(agentRun('dark', { source }).user('Hi').tool({ name: 'look' }, 'x'))
      const analysis = analyseRun(run, defaultDetectionSettings(), undefined)
      const checks = { ...analysis, not_checked: [...analysis.not_checked, ...more] }
      return writeVerdictSentence([], run, { state: 'completed', checks })
    }
    expect(checksOf('proxy')).not.toContain('did not run')
    expect(checksOf('otlp_no_content')).toMatch(
      /with nothing wrong found; \d\d of \d\d checks did not run, because no texts or arguments of tool calls were recorded; let the instrumentation and the project capture content, or send the calls through the proxy\.$/,
    )
    const held = { detector: 'orphan', reason: 'part of the history is held by the provider' }
    expect(checksOf('proxy', [held])).toMatch(
      /1 of \d\d checks did not run, because part of the history is held by the provider\.$/,
    )
    // A detector that checked a part of the run is one of the checks, and not two.
    const countIn = (sentence: string) => /of (\d+) checks/.exec(sentence)?.[1]
    expect(countIn(checksOf('proxy', [held]))).toBe(countIn(checksOf('otlp_no_content')))
    const limited = { detector: 'cycle', reason: 'not_analysed: more than 1 units of work' }
    expect(checksOf('proxy', [limited])).not.toContain('did not run')
  })

  test('with only recovered findings', () => {
    const run = agentRun('fine')
      .user('Hi')
      .assistant({ error: { status: 500 } })
      .assistant('Hello')
    expect(writeVerdictSentence(all(run), runOf(run), { state: 'completed' })).toContain(
      'got over what went wrong',
    )
  })

  test('of a bounded length', () => {
    const [finding] = all(failed())
    if (finding === undefined) throw new Error('nothing found')
    const long = {
      ...finding,
      severity: 'high' as const,
      recovered: false,
      summary: 'x'.repeat(900),
    }
    expect(
      writeVerdictSentence([long], runOf(failed()), { state: 'failed' }).length,
    ).toBeLessThanOrEqual(601)
  })
})

test('finds errors, ends and outages without content', () => {
  const run = agentRun('quiet', { source: 'otlp_no_content' })
    .user('x')
    .tool({ name: 'charge' }, { text: 'no', failed: true })
    .assistant({ text: 'y', finish_reason: 'length' })
    .user('z')
    .assistant({ error: { status: 503 } })
  const types = new Set(all(run).map(({ type }) => type))
  expect(types).toContain('provider_server_error')
  expect(types).toContain('output_truncated')
})
