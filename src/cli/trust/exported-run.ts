import { z } from 'zod'
import {
  type Recomputed,
  recomputeTrust,
  runExportFormat,
  scoredClaim,
  trustScore,
  usedCalibrations,
} from '../../capabilities/verification/trust/index.ts'
import { Problem } from '../../kernel/problem.ts'
import { UsageError } from '../command.ts'
import { parseWritten } from '../zod-faults.ts'

const offsets = z.tuple([z.int().nonnegative(), z.int().nonnegative()])

/** Evidence of an export; the formula reads none of it. */
const evidence = z.looseObject({
  source: z.string(),
  quote: z.string(),
  at: offsets.nullable(),
  digest: z.string().nullable(),
})
export type Evidence = z.output<typeof evidence>

const exportSchema = z.object({
  format: z.literal(runExportFormat),
  run: trustScore.extend({
    run_id: z.string(),
    formula_version: z.string(),
    answer: z.object({ digest: z.string() }).nullable(),
  }),
  calibrations: usedCalibrations,
  claims: z.array(
    scoredClaim.extend({
      text: z.string(),
      at: offsets,
      values: z.array(z.object({ evidence: z.array(evidence) })),
      results: z.array(scoredClaim.shape.results.element.extend({ evidence: z.array(evidence) })),
    }),
  ),
})
export type ExportedRun = z.output<typeof exportSchema>

/** Reads an exported run. Throws `UsageError` for any other text. */
export function readExportedRun(name: string, text: string): ExportedRun {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}`)
  }
  const read = parseWritten(exportSchema, value)
  if ('data' in read) return read.data
  const [fault] = read.faults
  const place = fault === undefined || fault.path.length === 0 ? '' : ` ${fault.path.join('.')}:`
  throw new UsageError(
    `${name}:${place} ${fault?.message}. Expected the reply of GET …/runs/{run_id}/export`,
  )
}

/** Computes the trust of an exported run. Throws `UsageError` for one that has no single result. */
export function recomputeExport(
  name: string,
  { run, calibrations, claims }: ExportedRun,
): Recomputed {
  const { formula_version: formula, trust_score, interval, coverage, calibrated, caps } = run
  const trust = { trust_score, interval, coverage, calibrated, caps }
  try {
    return recomputeTrust({ formula, calibrations, trust, claims })
  } catch (error) {
    if (!(error instanceof Problem || error instanceof RangeError)) throw error
    throw new UsageError(`${name}: ${error.message}`)
  }
}
