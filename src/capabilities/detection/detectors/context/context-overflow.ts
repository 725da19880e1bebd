import { z } from 'zod'
import { contextFinding } from '../../context/context-finding.ts'
import { type WindowOf, windowsWith } from '../../context/model-windows.ts'
import type { Detector, FindingDraft } from '../../contract.ts'
import { placeOf } from '../../evidence/places.ts'
import type { ModelCall, TaskRun } from '../../reconstruction/contract.ts'

const share = z.number().min(0.1).max(1)

const settings = z.strictObject({
  fill_min: share.default(0.8).describe('Share of the window from which on a call is told.'),
  fill_severe: share
    .default(0.95)
    .describe('Share of the window from which on it is of medium severity.'),
  windows: z
    .record(z.string().min(1).max(128), z.int().min(256).max(100_000_000))
    .default({})
    .describe('Context windows in tokens by the beginning of a model’s name; before the table.'),
})
type Chosen = Omit<z.output<typeof settings>, 'windows'> & { windowOf: WindowOf }

/**
 * A history that fills the model's window, or that the provider refused as too long. Without a known
 * window only the provider's own error counts.
 */
export const contextOverflow: Detector<typeof settings> = {
  name: 'context_overflow',
  kind: 'context',
  types: ['context_overflow'],
  version: 1,
  needs: [],
  settings,
  detect(run, { windows, ...thresholds }, budget) {
    const chosen = { ...thresholds, windowOf: windowsWith(windows) }
    return run.threads.flatMap((thread) => {
      budget.spend(thread.calls.length)
      const calls = thread.calls.flatMap((index) => run.calls[index] ?? [])
      const refused = calls.filter(isRefused)
      const filled = filledCalls(calls, chosen)
      if (refused.length > 0) return refusedFinding(run, { calls, filled }, refused)
      return filledFinding(run, { calls, filled }, chosen)
    })
  },
}

/** The words that providers have for it, in the type or the text of the error. */
function isRefused({ status, error_type, error_message }: ModelCall): boolean {
  return (
    status === 'error' &&
    /context_length_exceeded|context[_ ]window|maximum context length|(?:prompt|input|request) is too long|too many (?:input )?tokens|exceeds? (?:the )?(?:model'?s )?(?:maximum )?(?:context|token|input)|input token count|reduce the length of/i.test(
      `${error_type} ${error_message.slice(0, error_chars_max)}`,
    )
  )
}

const error_chars_max = 2_000

/** A call whose input filled a share of its window. */
type Filled = { call: ModelCall; fill: number }
type ThreadFill = { calls: readonly ModelCall[]; filled: readonly Filled[] }

function refusedFinding(
  run: TaskRun,
  { calls, filled }: ThreadFill,
  refused: readonly ModelCall[],
): FindingDraft[] {
  const [first] = refused
  const last = refused.at(-1)
  if (first === undefined || last === undefined) return []
  const recovered = calls.some(({ index, status }) => index > last.index && status === 'ok')
  const steps = filled.flatMap(({ call }) => call.step ?? [])
  return [
    {
      ...contextFinding(run, {
        type: 'context_overflow',
        severity: 'high',
        topic: 'refused',
        summary: `The provider refused a history as too long for ${first.model || 'the model'}.`,
        original_context: windowText(first.model, undefined),
        violation: first.error_message || first.error_type,
        original: calls[0] ?? first,
        steps,
        begins_at: placeOf(first),
        recovered,
        confidence: 0.98,
        evidence: { model: first.model, refused_calls: refused.length, fill: 1 },
      }),
      repeats: refused.length,
      places: refused.slice(0, refusedPlaces_max).map(placeOf),
    },
  ]
}

const refusedPlaces_max = 100

function filledFinding(
  run: TaskRun,
  { calls, filled }: ThreadFill,
  { fill_min, fill_severe, windowOf }: Chosen,
): FindingDraft[] {
  const [first] = filled
  if (first === undefined) return []
  const most = filled.reduce((one, other) => (other.fill > one.fill ? other : one))
  const last = calls.findLast((call) => fillOf(call, windowOf) !== undefined)
  const recovered = last !== undefined && (fillOf(last, windowOf) ?? 0) < fill_min
  const window_tokens = windowOf(most.call.model)
  const percent = Math.round(most.fill * 100)
  return [
    contextFinding(run, {
      type: 'context_overflow',
      severity: most.fill >= fill_severe ? 'medium' : 'low',
      topic: 'filled',
      summary: `A call filled ${percent} % of the window of ${most.call.model}.`,
      original_context: windowText(most.call.model, window_tokens),
      violation: `${most.call.input_tokens} tokens of input: ${percent} % of the window.`,
      original: calls[0] ?? first.call,
      steps: filled.flatMap(({ call }) => call.step ?? []),
      begins_at: placeOf(first.call),
      recovered,
      confidence: 0.95,
      evidence: {
        model: most.call.model,
        window_tokens,
        input_tokens: most.call.input_tokens,
        fill: most.fill,
        calls: filled.length,
      },
    }),
  ]
}

function filledCalls(calls: readonly ModelCall[], { fill_min, windowOf }: Chosen): Filled[] {
  return calls.flatMap((call) => {
    const fill = fillOf(call, windowOf)
    return fill !== undefined && fill >= fill_min ? [{ call, fill }] : []
  })
}

function windowText(model: string, tokens: number | undefined): string {
  const name = model === '' ? 'the model' : model
  return tokens === undefined
    ? `The window of ${name} is not known.`
    : `The window of ${name} has ${tokens} tokens.`
}

/** Share of the window that a call's input filled; undefined when either is not known. */
function fillOf({ model, input_tokens }: ModelCall, windowOf: WindowOf) {
  const window = windowOf(model)
  return window === undefined || input_tokens === null ? undefined : input_tokens / window
}
