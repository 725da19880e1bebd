import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import type { FindingDraft } from '../../src/capabilities/detection/contract.ts'
import {
  createReconstruction,
  type Reconstruction,
} from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
import type { Observation } from '../../src/model/observation.ts'
import { quarterOf } from '../support/suite/budget.ts'
import { corpus } from './corpus.ts'
import { isMedium, measure, scores, type Verdict } from './measure.ts'
import { missedLines, verdictsPage, wrongLines } from './verdicts-page.ts'

const precision_min = 0.98
/** The goal for loops; other kinds have few runs, so one in five may be missed. */
const recall_min = { loop: 0.95, failure: 0.8, context: 0.8, claim: 0.8 } as const
const verdicts = measure(corpus)
const settings = defaultDetectionSettings()

describe('the corpus', () => {
  test('has runs of each type in enough shapes, and healthy ones', () => {
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length)
    const runs_min = { loop: 5, failure: 3, context: 4, claim: 4 } as const
    for (const { kind, type, runs } of scores(verdicts)) {
      if (runs > 0) expect(runs, type).toBeGreaterThanOrEqual(runs_min[kind])
    }
    expect(corpus.filter(({ healthy }) => healthy).length).toBeGreaterThanOrEqual(80)
  })
})

describe('with default settings', () => {
  test.each(scores(verdicts).map((score) => [score.type, score] as const))(
    '%s is found where it is labelled, and nowhere else',
    (type, score) => {
      const missed = verdicts.flatMap(missedLines).filter((line) => line.includes(`\`${type}\``))
      const wrong = verdicts.flatMap(wrongLines).filter((line) => line.includes(`\`${type}\``))
      expect(score.precision ?? 1, wrong.join('\n')).toBeGreaterThanOrEqual(precision_min)
      expect(score.recall ?? 1, missed.join('\n')).toBeGreaterThanOrEqual(recall_min[score.kind])
    },
  )

  test('no healthy run has a finding of medium or above', () => {
    expect(flaggedIn(verdicts)).toEqual([])
  })

  test('docs/reference/verdicts.md is fresh (make verdicts)', async () => {
    const page = await readFile('docs/reference/verdicts.md', 'utf8')
    expect(page).toBe(verdictsPage(verdicts))
  })
})

describe('recorded as canonical records instead of by the proxy', () => {
  const measured = measure(
    corpus
      .filter((run) => run.observations().every(({ source }) => source === 'proxy'))
      .map((run) => ({ ...run, observations: () => run.toldBy('api') })),
  )

  test('loops are found alike', () => {
    expect(measured.length).toBeGreaterThan(300)
    for (const { kind, type, precision, recall } of scores(measured)) {
      if (kind !== 'loop') continue
      expect(precision ?? 1, type).toBeGreaterThanOrEqual(precision_min)
      expect(recall ?? 1, type).toBeGreaterThanOrEqual(recall_min.loop)
    }
  })

  test('no healthy run has a finding of medium or above', () => {
    expect(flaggedIn(measured)).toEqual([])
  })
})

describe('in other batches', () => {
  test('rows that arrive one by one give the same findings', () => {
    for (const { run, findings } of quarterOf(verdicts)) {
      expect(
        findingsInBatches(run.observations(), () => 1),
        run.name,
      ).toEqual(findings)
    }
  })

  test('rows that arrive when they end, a few at a time, give the same findings', () => {
    for (const { run, findings } of quarterOf(verdicts)) {
      const byEnd = run
        .observations()
        .sort((a, b) => (a.end_time === b.end_time ? 0 : a.end_time < b.end_time ? -1 : 1))
      expect(
        findingsInBatches(byEnd, (batch) => (batch % 3) + 2),
        run.name,
      ).toEqual(findings)
    }
  })
})

/** Findings of medium or above in healthy runs, in words. */
function flaggedIn(measured: readonly Verdict[]): string[] {
  return measured
    .filter(({ run }) => run.healthy)
    .flatMap(({ run, findings }) =>
      findings.filter(isMedium).map(({ type, summary }) => `${run.name}: ${type}: ${summary}`),
    )
}

/** The findings when the rows arrive in batches, as a worker reads them; a rebuild starts again. */
function findingsInBatches(
  rows: readonly Observation[],
  sizeOf: (batch: number) => number,
): readonly FindingDraft[] {
  let reconstruction = newReconstruction(rows)
  let from = 0
  for (let batch = 0; from < rows.length; batch++) {
    const size = sizeOf(batch)
    if (reconstruction.add(rows.slice(from, from + size)) === 'rebuild') {
      reconstruction = newReconstruction(rows)
      reconstruction.add(rows.slice(0, from + size))
    }
    from += size
  }
  return runDetectors(reconstruction.run(), settings).findings
}

function newReconstruction([first]: readonly Observation[]): Reconstruction {
  const { project_id = '', task_id = '', conversation_id = '' } = first ?? {}
  return createReconstruction({ project_id, task_id, conversation_id })
}
