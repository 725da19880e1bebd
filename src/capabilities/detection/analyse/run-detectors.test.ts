import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type AgentRun, agentRun } from '../../../../test/corpus/agent-run.ts'
import { runOf } from '../../../../test/support/detect-one.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import type { Detector, FindingDraft } from '../contract.ts'
import { loopDetectors } from '../detectors/index.ts'
import { placesOfSteps } from '../facts/finding-parts.ts'
import { createReconstruction, type TaskRun } from '../reconstruction/index.ts'
import { createSettingsSchema } from '../settings/detector-settings.ts'
import { applyLoopPrecedence, maxFindingsPerDetector, runDetectors } from './run-detectors.ts'

const finding: FindingDraft = {
  kind: 'failure',
  type: 'made_up',
  severity: 'low',
  anchor: 'a',
  summary: 'Made up.',
  start_step: null,
  end_step: null,
  period: null,
  repeats: null,
  places: [],
  wasted_tokens: 0,
  wasted_nano_dollars: 0n,
  recovered: false,
  confidence: 1,
  evidence: {},
}

function detectorNamed(name: string, about: Partial<Detector> = {}): Detector {
  return {
    name,
    kind: 'failure',
    types: ['made_up'],
    version: 1,
    needs: [],
    settings: z.strictObject({}),
    detect: () => [{ ...finding, anchor: name }],
    ...about,
  }
}

const looped = agentRun('looped')
  .user('Read it.')
  .times(4, (run) => run.tool({ name: 'read_file', args: { path: 'a' } }, 'a'))
  .assistant('I do not know.')

function detect(run: TaskRun, detectors: readonly Detector[], options: object = {}) {
  return runDetectors(run, createSettingsSchema(detectors).parse({}), { detectors, ...options })
}

test('a detector that throws or exceeds its budget does not affect others', () => {
  const cause = new TypeError('broken')
  const detectors = [
    detectorNamed('throws', {
      detect: () => {
        throw cause
      },
    }),
    detectorNamed('endless', {
      detect: (_run, _settings, budget) => {
        for (;;) budget.spend(1)
      },
    }),
    detectorNamed('fine'),
  ]
  expect(detect(runOf(looped), detectors, { work_units_max: 1_000 })).toMatchObject({
    findings: [{ anchor: 'fine' }],
    analysed: ['fine'],
    failed: [{ detector: 'throws', error: cause }],
    not_checked: [
      { detector: 'throws', reason: 'not_analysed: the detector failed' },
      { detector: 'endless', reason: 'not_analysed: more than 1000 units of work' },
    ],
  })
})

test('a blocked detector ends at its time limit', () => {
  let now_ms = 0
  const detectors = [
    detectorNamed('slow', {
      detect: (_run, _settings, budget) => {
        for (;;) {
          now_ms += 1
          budget.spend(100)
        }
      },
    }),
    detectorNamed('fine'),
  ]
  const bounds = { time_ms_max: 500, now_ms: () => now_ms }
  expect(detect(runOf(looped), detectors, bounds)).toMatchObject({
    analysed: ['fine'],
    failed: [],
    not_checked: [{ detector: 'slow', reason: 'not_analysed: it took longer than 500 ms' }],
  })
})

test('runs only the requested and enabled detectors', () => {
  const detectors = ['a', 'b', 'c'].map((name) => detectorNamed(name))
  const settings = createSettingsSchema(detectors).parse({ b: { enabled: false } })
  const anchors = (only?: readonly string[]) =>
    runDetectors(runOf(looped), settings, { detectors, ...(only && { only }) }).findings.map(
      ({ anchor }) => anchor,
    )
  expect(anchors()).toEqual(['a', 'c'])
  expect(anchors(['b', 'c', 'unknown'])).toEqual(['c'])
})

test('limits the findings of one detector and reports it', () => {
  const many = Array.from({ length: maxFindingsPerDetector + 5 }, (_, at) => ({
    ...finding,
    anchor: `${at}`,
  }))
  const {
    findings,
    analysed: checked,
    not_checked,
  } = detect(runOf(looped), [detectorNamed('many', { detect: () => many })])
  expect([findings.length, checked, not_checked.length]).toEqual([200, [], 1])
})

test('passes thresholds and the memory of earlier tasks to the detector', () => {
  const seen: unknown[] = []
  const detector = detectorNamed('seen', {
    settings: z.strictObject({ repeats: z.int().default(3) }),
    detect: (_run, settings, _budget, prior) => {
      seen.push(settings, prior)
      return []
    },
  })
  const prior = { version: 1, entries: [] } as const
  const settings = createSettingsSchema([detector]).parse({ seen: { repeats: 7 } })
  runDetectors(runOf(looped), settings, { detectors: [detector], prior })
  runDetectors(runOf(looped), {}, { detectors: [detector] })
  expect(seen).toEqual([{ repeats: 7 }, prior, { repeats: 3 }, undefined])
})

test('a run without content lists what was not checked', () => {
  const silent = agentRun('silent', { source: 'otlp_no_content' })
    .user('Move the files.')
    .times(6, (run, at) =>
      run.tool({ name: 'move', args: { at } }, { text: 'Error: locked', failed: true }),
    )
    .assistant('No.')
  const { findings, not_checked, analysed: checked } = detect(runOf(silent), loopDetectors)
  expect(findings.map(({ type }) => type)).toEqual(['error_streak'])
  expect(checked).toEqual(['error_streak', 'budget'])
  expect(not_checked).toContainEqual({
    detector: 'repeat_call',
    reason: 'the run has no arguments of tool calls',
  })
})

test('a run without tools is checked by all detectors', () => {
  const { not_checked } = detect(runOf(agentRun('hi').user('Hi').assistant('Hi.')), loopDetectors)
  expect(not_checked).toEqual([])
})

test('one loop is one finding, which lists the other types', () => {
  const failing = agentRun('failing')
    .user('Book it.')
    .times(5, (run) => run.tool({ name: 'book', args: { day: 1 } }, 'Error: no such day'))
    .assistant('It can not be booked.')
  const { findings } = detect(runOf(failing), loopDetectors)
  expect(findings).toMatchObject([
    { type: 'repeat_error', evidence: { also: ['repeat_call', 'error_streak'] } },
  ])
})

/** Actions of an agent that combine to any run: healthy ones, loops, broken histories. */
const moves: readonly ((run: AgentRun, n: number) => AgentRun)[] = [
  (run, n) => run.tool({ name: 'read_file', args: { path: `${n % 2}` } }, `text ${n % 2}`),
  (run, n) =>
    run.tool({ name: 'bash', args: { command: `make ${n}` } }, 'Error: no\n[exit code: 2]'),
  (run, n) => run.assistant(`Part ${n % 3}. `.repeat(1 + (n % 40))),
  (run) => run.user('Go on.'),
  (run, n) => run.assistant({ calls: [{ name: 'a', args: '{broken' }, { name: `b${n % 2}` }] }),
  (run, n) => run.assistant({ calls: [{ name: 'a' }, { name: 'b' }] }).results(['x', `${n % 2}`]),
  (run) => run.compact('All that was done so far.'),
  (run) => run.truncate(2),
  (run) => run.reset(),
  (run) => run.edit((history) => history.slice(1)),
  (run) => run.assistant({ error: { status: 503, type: 'server_error', message: 'down' } }),
  (run) => run.assistant({ text: 'half an ans', partial: true }),
  (run) =>
    run.parallel(
      (one) => one.user('One').assistant('1'),
      (two) => two.user('Two').assistant('2'),
    ),
]

const anyRun = fc
  .tuple(
    fc.constantFrom('proxy', 'otlp', 'otlp_openinference', 'otlp_no_content'),
    fc.array(fc.tuple(fc.nat(moves.length - 1), fc.nat(9), fc.integer({ min: 1, max: 6 })), {
      maxLength: 14,
    }),
  )
  .map(([source, taken]) => {
    const run = agentRun(JSON.stringify(taken), { source: source as 'proxy' }).user('Begin.')
    for (const [move, n, times] of taken) {
      for (let at = 0; at < times; at++) moves[move]?.(run, n)
    }
    return run.assistant('End.').observations()
  })

test('for every run nothing throws, work is limited, and batches do not change findings', () => {
  fc.assert(
    fc.property(anyRun, fc.nat(20), (rows, at) => {
      const whole = createReconstruction({ project_id: 'p', task_id: 't', conversation_id: '' })
      expect(whole.add(rows)).toBe('added')
      const found = detect(whole.run(), loopDetectors, { work_units_max: 200_000 })
      expect(found.failed).toEqual([])
      expect(found.not_checked.filter(({ reason }) => reason.startsWith('not_an'))).toEqual([])
      expect(placesKnown(whole.run(), found.findings)).toBe(true)
      const parts = createReconstruction({ project_id: 'p', task_id: 't', conversation_id: '' })
      parts.add(rows.slice(0, at))
      detect(parts.run(), loopDetectors)
      expect(parts.add(rows.slice(at))).toBe('added')
      expect(detect(parts.run(), loopDetectors)).toEqual(found)
    }),
    { numRuns: fuzzRuns(60) },
  )
}, 120_000)

function placesKnown({ calls, steps }: TaskRun, findings: readonly FindingDraft[]): boolean {
  const known = new Set(calls.map(({ observation_id }) => observation_id))
  const keys = findings.map(({ type, anchor }) => `${type} ${anchor}`)
  return (
    new Set(keys).size === keys.length &&
    findings.every(
      ({ places, start_step, end_step, confidence }) =>
        places.every(({ observation_id }) => known.has(observation_id)) &&
        confidence > 0 &&
        confidence <= 1 &&
        (start_step ?? 0) <= (end_step ?? 0) &&
        (end_step ?? 0) < Math.max(1, steps.length),
    )
  )
}

const run = runOf(
  agentRun('ten')
    .user('Go.')
    .times(10, (agent, at) => agent.tool({ name: 'a', args: { at } }, 'x')),
)

function found(
  type: string,
  steps: readonly number[],
  kind: 'loop' | 'failure' = 'loop',
): FindingDraft {
  return {
    kind,
    type,
    severity: 'low',
    anchor: `${steps[0]}`,
    summary: type,
    start_step: steps[0] ?? null,
    end_step: steps.at(-1) ?? null,
    period: null,
    repeats: steps.length,
    places: placesOfSteps(run, steps),
    wasted_tokens: 0,
    wasted_nano_dollars: 0n,
    recovered: false,
    confidence: 1,
    evidence: { steps },
  }
}

const kept = (...findings: FindingDraft[]) =>
  applyLoopPrecedence(run, findings).map(({ type, evidence }) => [type, evidence['also']])

test('drops a weaker loop when a stronger one covers half of its steps', () => {
  expect(kept(found('scattered_repeat', [0, 2, 5, 8]), found('cycle', [0, 1, 2, 3]))).toEqual([
    ['cycle', ['scattered_repeat']],
  ])
  expect(kept(found('scattered_repeat', [0, 5, 8]), found('cycle', [0, 1, 2, 3]))).toEqual([
    ['scattered_repeat', undefined],
    ['cycle', undefined],
  ])
})

test('keeps the strongest loop and lists each type once', () => {
  const findings = [
    found('error_streak', [0, 1, 2, 3, 4]),
    found('similar_call', [0, 1, 2]),
    found('similar_call', [3, 4]),
    found('repeat_error', [0, 1, 2, 3, 4]),
  ]
  expect(kept(...findings)).toEqual([['repeat_error', ['error_streak', 'similar_call']]])
})

test('leaves other kinds, chants and budgets alone', () => {
  const findings = [
    found('repeat_error', [0, 1, 2]),
    found('tool_failure', [0, 1], 'failure'),
    found('content_chant', [1]),
    found('budget', [2]),
  ]
  expect(kept(...findings).map(([type]) => type)).toEqual([
    'repeat_error',
    'tool_failure',
    'content_chant',
    'budget',
  ])
})
