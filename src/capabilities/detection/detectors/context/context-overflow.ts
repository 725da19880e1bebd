import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import { placeOf, toContextDraft } from '../../facts/index.ts'
import type { ModelCall, TaskRun } from '../../reconstruction/index.ts'

const share = z.number().min(0.1).max(1)

const settings = z.strictObject({
  fill_min: share.default(0.8).describe('Minimum used share of the window for a finding.'),
  fill_severe: share
    .default(0.95)
    .describe('Minimum used share of the window for medium severity.'),
  windows: z
    .record(z.string().min(1).max(128), z.int().min(256).max(100_000_000))
    .default({})
    .describe(
      'Context windows in tokens by prefix of a model’s name; they override the built-in table.',
    ),
})
type Thresholds = Omit<z.output<typeof settings>, 'windows'> & { windowOf: WindowOf }

/**
 * Finds histories that fill the model's window, or that the provider refused as too long. Without a
 * known window only the provider's error counts.
 */
export const contextOverflow: Detector<typeof settings> = {
  name: 'context_overflow',
  kind: 'context',
  types: ['context_overflow'],
  version: 1,
  needs: [],
  settings,
  detect(run, { windows, ...thresholds }, budget) {
    const chosen = { ...thresholds, windowOf: createWindowLookup(windows) }
    return run.threads.flatMap((thread) => {
      budget.spend(thread.calls.length)
      const calls = thread.calls.flatMap((index) => run.calls[index] ?? [])
      const refused = calls.filter(isRefused)
      const filled = findFilledCalls(calls, chosen)
      if (refused.length > 0) return toRefusedFinding(run, { calls, filled }, refused)
      return toFilledFinding(run, { calls, filled }, chosen)
    })
  },
}

/** Tells whether the type or text of an error is a provider's wording for an overflow. */
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
type FilledCall = { call: ModelCall; fill: number }
type ThreadFill = { calls: readonly ModelCall[]; filled: readonly FilledCall[] }

function toRefusedFinding(
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
      ...toContextDraft(run, {
        type: 'context_overflow',
        severity: 'high',
        topic: 'refused',
        summary: `The provider refused a history as too long for ${first.model || 'the model'}.`,
        original_context: describeWindow(first.model, undefined),
        violation: first.error_message || first.error_type,
        original: calls[0] ?? first,
        steps,
        begins_at: placeOf(first),
        recovered,
        confidence: 0.98,
        evidence: { model: first.model, refused_calls: refused.length, fill: 1 },
      }),
      repeats: refused.length,
      places: refused.slice(0, maxRefusedPlaces).map(placeOf),
    },
  ]
}

const maxRefusedPlaces = 100

function toFilledFinding(
  run: TaskRun,
  { calls, filled }: ThreadFill,
  { fill_min, fill_severe, windowOf }: Thresholds,
): FindingDraft[] {
  const [first] = filled
  if (first === undefined) return []
  const most = filled.reduce((one, other) => (other.fill > one.fill ? other : one))
  const last = calls.findLast((call) => fillOf(call, windowOf) !== undefined)
  const recovered = last !== undefined && (fillOf(last, windowOf) ?? 0) < fill_min
  const window_tokens = windowOf(most.call.model)
  const percent = Math.round(most.fill * 100)
  return [
    toContextDraft(run, {
      type: 'context_overflow',
      severity: most.fill >= fill_severe ? 'medium' : 'low',
      topic: 'filled',
      summary: `A call filled ${percent} % of the window of ${most.call.model}.`,
      original_context: describeWindow(most.call.model, window_tokens),
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

function findFilledCalls(
  calls: readonly ModelCall[],
  { fill_min, windowOf }: Thresholds,
): FilledCall[] {
  return calls.flatMap((call) => {
    const fill = fillOf(call, windowOf)
    return fill !== undefined && fill >= fill_min ? [{ call, fill }] : []
  })
}

function describeWindow(model: string, tokens: number | undefined): string {
  const name = model === '' ? 'the model' : model
  return tokens === undefined
    ? `The window of ${name} is not known.`
    : `The window of ${name} has ${tokens} tokens.`
}

/** Returns the share of the window that a call's input filled; undefined if either is unknown. */
function fillOf({ model, input_tokens }: ModelCall, windowOf: WindowOf) {
  const window = windowOf(model)
  return window === undefined || input_tokens === null ? undefined : input_tokens / window
}

/**
 * Context windows in tokens by prefix of a model's name, from the vendors' model pages (OpenAI,
 * Anthropic, Google, Mistral, DeepSeek, Meta, xAI; read in 2026). The longest prefix wins. Other
 * models have no known window.
 */
const knownWindows: Readonly<Record<string, number>> = {
  'gpt-3.5-turbo': 16_385,
  'gpt-4': 8_192,
  'gpt-4-32k': 32_768,
  'gpt-4-turbo': 128_000,
  'gpt-4-1106': 128_000,
  'gpt-4-0125': 128_000,
  'gpt-4o': 128_000,
  'chatgpt-4o': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-5': 400_000,
  'gpt-5-chat': 128_000,
  o1: 200_000,
  'o1-mini': 128_000,
  'o1-preview': 128_000,
  o3: 200_000,
  'o4-mini': 200_000,
  'claude-2': 100_000,
  'claude-2.1': 200_000,
  'claude-3': 200_000,
  'gemini-1.5-flash': 1_048_576,
  'gemini-1.5-pro': 2_097_152,
  'gemini-2': 1_048_576,
  'mistral-large': 131_072,
  'mistral-small': 131_072,
  'deepseek-chat': 131_072,
  'deepseek-reasoner': 131_072,
  'llama-3': 8_192,
  'llama-3.1': 131_072,
  'llama-3.2': 131_072,
  'llama-3.3': 131_072,
  'grok-3': 131_072,
  'grok-4': 262_144,
}

const modelNames = Object.keys(knownWindows).sort((one, other) => other.length - one.length)

/** Returns the window of a model in tokens; undefined if it is unknown. */
type WindowOf = (model: string) => number | undefined

/**
 * Creates the lookup of windows by prefix of a model's name: the project's settings first, then the
 * table. A vendor prefix ("openai/gpt-4o") is ignored.
 */
function createWindowLookup(own: Readonly<Record<string, number>>): WindowOf {
  const set = Object.keys(own).sort((one, other) => other.length - one.length)
  const known = new Map<string, number | undefined>()
  return (model) => {
    if (known.has(model)) return known.get(model)
    const low = model.toLowerCase()
    const bare = low.slice(low.lastIndexOf('/') + 1)
    const chosen = set.find((name) => [low, bare].some((is) => is.startsWith(name.toLowerCase())))
    const listed = modelNames.find((name) => bare.startsWith(name))
    const window = chosen === undefined ? knownWindows[listed ?? ''] : own[chosen]
    known.set(model, window)
    return window
  }
}
