import { describe, expect, test } from 'vitest'
import { agentRun, type RunSource } from '../../../../test/corpus/agent-run.ts'
import { findingsOf, runOf } from '../../../../test/support/failure-findings.ts'
import { failureDetectors } from '../detectors/index.ts'
import { defaultDetectionSettings } from '../settings/detector-settings.ts'
import { analyseRun } from './analyse-run.ts'
import type { NotChecked } from './finding.ts'
import { findRootCause, toVerdictColumns, writeVerdictSentence } from './verdict.ts'

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

  test('is never a finding of low severity, which makes no “went wrong” either', () => {
    const run = agentRun('low', { tools: ['look'] })
      .user('Look.')
      .tool({ name: 'look' }, 'Error: nothing there')
      .assistant('Hm.')
    const findings = all(run)
    expect(findings).toMatchObject([{ type: 'tool_failure', severity: 'low' }])
    expect(findRootCause(findings, runOf(run))).toBeNull()
    expect(writeVerdictSentence(findings, runOf(run), { state: 'completed' })).toMatch(
      /^The task was completed after 2 steps and 1 tool call, with minor findings only: tool_failure; about/,
    )
    const informed = findings.map((finding) => ({ ...finding, severity: 'info' as const }))
    expect(writeVerdictSentence(informed, runOf(run), { state: 'completed' })).toContain(
      'with nothing wrong found',
    )
  })

  test('names its observation, and the step as people count', () => {
    const run = runOf(failed())
    const analysis = analyseRun(run, defaultDetectionSettings(), undefined)
    const detected_at = '2027-01-01T00:00:00Z'
    const { verdict } = toVerdictColumns(run, analysis.findings, { detected_at, analysis })
    const { trace_id, observation_id } = run.calls[1] ?? {}
    expect(verdict.root_cause).toMatchObject({ step: 0, trace_id, observation_id })
    expect(verdict.summary).toContain('at step 1')
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
    expect(checksOf('proxy')).toContain('with nothing wrong found')
    expect(checksOf('otlp_no_content')).not.toContain('nothing wrong found')
    expect(checksOf('otlp_no_content')).toMatch(
      /; the checks that ran found nothing wrong; \d\d of \d\d checks did not run, because no texts or arguments of tool calls were recorded; let the instrumentation and the project capture content, or send the calls through the proxy\.$/,
    )
    const held = { detector: 'orphan', reason: 'part of the history is held by the provider' }
    expect(checksOf('proxy', [held])).toMatch(
      /1 of \d\d checks did not run, because part of the history is held by the provider\.$/,
    )
    const dropped = { detector: 'x', reason: 'the client dropped a part of the history' }
    expect(checksOf('proxy', [dropped])).toMatch(
      /the checks that ran found nothing wrong; 1 of \d\d checks did not run, because the client dropped a part of the history\.$/,
    )
    // A detector that checked a part of the run is one of the checks, and not two.
    const countIn = (sentence: string) => /of (\d+) checks/.exec(sentence)?.[1]
    expect(countIn(checksOf('proxy', [held]))).toBe(countIn(checksOf('otlp_no_content')))
    const limited = { detector: 'cycle', reason: 'not_analysed: more than 1 units of work' }
    expect(checksOf('proxy', [limited])).not.toContain('did not run')
  })

  test('with the waste of overlapping findings once, and on one line', () => {
    const run = agentRun('loop', { tools: ['book_flight'] })
      .user('Book.')
      .times(4, (agent) =>
        agent.tool({ name: 'book_flight', args: { day: '3.5.' } }, 'Error: not\n on\n that day'),
      )
      .assistant('No.')
    const built = runOf(run)
    const analysis = analyseRun(built, defaultDetectionSettings(), undefined)
    const types = analysis.findings.map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['repeat_error', 'tool_failure']))
    const detected_at = '2027-01-01T00:00:00Z'
    const { wasted_tokens, wasted_cost_usd, verdict } = toVerdictColumns(built, analysis.findings, {
      detected_at,
      analysis,
    })
    const { wasted_tokens: largest, wasted_cost_usd: cost } = analysis.findings.find(
      ({ type }) => type === 'tool_failure',
    ) ?? { wasted_tokens: 0, wasted_cost_usd: '0' }
    expect(wasted_tokens).toBe(largest)
    expect(Number(wasted_cost_usd)).toBeCloseTo(Number(cost), 9)
    expect(verdict.summary).toContain(`about ${largest} tokens`)
    expect(verdict.summary).not.toContain('\n')
    for (const { summary } of analysis.findings) expect(summary).not.toContain('\n')
    // A stored finding has no list of its calls: the sum ends at the total of the task.
    const stored = toVerdictColumns(built, analysis.findings, {
      detected_at,
      analysis: { ...analysis, wasted_calls: new Map() },
    })
    expect(stored.wasted_tokens).toBeGreaterThan(largest)
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
