import type { CompletionRequest } from './request.ts'
import { type Match, plainStep, type Script, type Step } from './script.ts'

/** A script in play: which steps still have uses left. */
export class ScriptPlay {
  readonly script: Script
  readonly #left: Map<Step, number>

  constructor(script: Script) {
    this.script = script
    this.#left = new Map(script.steps.map((step) => [step, step.times ?? Infinity]))
  }

  /** Takes the first step that answers this request, or the plain echo. */
  next(request: CompletionRequest): Step {
    const step = this.script.steps.find(
      (candidate) => (this.#left.get(candidate) ?? 0) > 0 && matches(candidate.match, request),
    )
    if (!step) return plainStep()
    this.#left.set(step, (this.#left.get(step) ?? 0) - 1)
    return step
  }
}

function matches(match: Match, request: CompletionRequest): boolean {
  const last = request.messages.at(-1)
  const equal: readonly (readonly [wanted: unknown, got: unknown])[] = [
    [match.provider, request.provider],
    [match.endpoint, request.endpoint],
    [match.model, request.model],
    [match.stream, request.stream],
    [match.last_role, last?.role],
    [match.last_tool_call_id, last?.tool_call_id],
  ]
  const { last_text_contains = '', any_text_contains = '' } = match
  return (
    equal.every(([wanted, got]) => wanted === undefined || wanted === got) &&
    (last?.text ?? '').includes(last_text_contains) &&
    request.messages.some(({ text }) => text.includes(any_text_contains))
  )
}
