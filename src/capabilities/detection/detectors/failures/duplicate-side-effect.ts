import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  countTimes,
  cutText,
  natureOfTool,
  placesOfUses,
  remember,
  toFailureDraft,
  turnsOf,
  usesOfSteps,
  wasteOfSteps,
} from '../../facts/index.ts'
import type { Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds a side effect performed twice within one turn of the user: a mail, a booking or a payment
 * with identical arguments and success each time. It starts with the second one. Exceptions: the
 * user asked for several, the arguments contain an idempotency key, or the result says that it
 * existed already.
 */
export const duplicateSideEffect: Detector<typeof settings> = {
  name: 'duplicate_side_effect',
  kind: 'failure',
  types: ['duplicate_side_effect'],
  version: 3,
  needs: ['arguments', 'results'],
  settings,
  detect(run, _settings, budget) {
    budget.spend(run.tools.length)
    if (!run.tools.some(({ name }) => natureOfTool(name).isOnce)) return []
    return run.threads.flatMap((thread) => {
      budget.spend(thread.steps.length)
      return turnsOf(run, thread).flatMap((turn) => {
        const uses = usesOfSteps(run, turn)
        budget.spend(uses.length)
        const done = uses.filter(isDone)
        const effects = [...Map.groupBy(done, ({ sig }) => sig).values()]
        const twice = effects.filter((same) => same.length > 1)
        if (twice.length === 0) return []
        const isWanted = wantsSeveral(run, turn)
        return twice
          .filter((same) => !isWanted || isCounted(same))
          .flatMap((same) => toFindings(run, same, uses))
      })
    })
  },
}

const resultHeadChars = 500

const isDone = remember(
  ({ sig, name, fault, is_answered, result, arguments: given }: ToolUse): boolean => {
    if (sig === null || fault !== null || !is_answered || result === null) return false
    if (!natureOfTool(name).isOnce || /idempot|dedup|request_?id/i.test(given ?? '')) return false
    const head = result.slice(0, resultHeadChars)
    if (notDone.some((words) => words.test(head))) return false
    return saysDone.test(head)
      ? !refusedState.test(head)
      : !refusals.some((words) => words.test(head))
  },
)

const effects = 'sent|delivered|booked|reserved|created|confirmed|charged|paid|submitted'

/** A field that names the effect: then a note beside it may speak of what is unavailable. */
const saysDone = new RegExp(
  `"(?:\\w*_)?(?:${effects})"\\s*:\\s*true|"(?:\\w*_)?stat(?:us|e)"\\s*:\\s*"(?:${effects})"`,
  'i',
)
const refusedState =
  /:\s*"(?:invalid|failed|denied|refused|declined|rejected|expired|locked|busy|unavailable|pending)"/i

/** Words of a result that is not a success: it existed already, or a field says that it failed. */
const notDone: readonly RegExp[] = [
  /already|duplicate|exists|bereits|déjà|ya existe/i,
  /\berrors?\b(?!["']?\s*:\s*(?:null|false|0|""|\[\]))/i,
  /"(?:\w*_)?(?:ok|success(?:ful)?|done|sent|delivered|booked|reserved|created|confirmed|accepted|approved|completed|charged|paid|submitted)"\s*:\s*(?:false|0\b)/i,
]

/** Words of a result that is not certainly a success: it was refused, or failed. */
const refusals: readonly RegExp[] = [
  /\b(?:invalid|fail(?:ed|ure)|denied|refused|declined|rejected|conflict|expired|locked|busy|unavailable|timed? ?out)\b/i,
  /\b(?:not|no longer) (?:available|possible|accepted|sent|booked|created|found)\b|\b(?:try|retry) again\b/i,
  /abgelehnt|fehlgeschlagen|ungültig|nicht (?:verfügbar|möglich)|refusé|échou|échec|réessay|indisponible|rechazad|fallid|no disponible|失败|失敗|错误|エラー|拒否|不可/i,
]

const message_chars_max = 2_000

/**
 * Tells whether the user's last two messages ask for more than one; the last four if the last is short
 * (“yes”, “row 5”), because it agrees to what they asked before, or completes it.
 */
function wantsSeveral(run: TaskRun, turn: readonly Step[]): boolean {
  const call = turn[0]?.call ?? -1
  const thread = turn[0]?.thread
  const said = run.messages.filter(
    (message) =>
      message.role === 'user' &&
      message.is_harness !== true &&
      message.thread === thread &&
      message.call <= call,
  )
  const isShort = (said.at(-1)?.text.length ?? 0) <= agreement_chars_max
  return said
    .slice(isShort ? -4 : -2)
    .some(({ text }) => several.test(text.slice(0, message_chars_max).toLowerCase()))
}

/** Maximum characters of a message that only agrees. */
const agreement_chars_max = 40

/** Tells whether the arguments contain a count above one, so that one such call is enough. */
function isCounted([first]: readonly ToolUse[]): boolean {
  return /:\s*(?:[2-9]|1[0-9])(?:\.0)?\s*[,}]/.test(first?.arguments ?? '')
}

/** Number words and counted things; digits of a name or a version do not match. */
const several =
  /\b(?:two|twice|three|four|five|times|again|another|each|both|double|repeat|every)\b|\b(?:zwei|zweimal|drei|nochmal|beide|deux|trois|encore|dos|tres|ambos)\b|\b[2-9] ?(?:x|×|[a-z]{3,20}s|mal)(?!\p{L})|\b[x×] ?[2-9]\b|两|再/u

function toFindings(
  run: TaskRun,
  same: readonly ToolUse[],
  uses: readonly ToolUse[],
): FindingDraft[] {
  const [first] = same
  const last = same.at(-1)
  if (first === undefined || last === undefined) return []
  const steps = same.flatMap(({ step }) => step ?? [])
  const places = placesOfUses(same)
  const results = new Set(same.map(({ result }) => result))
  const undo = uses.find((use) => use.index > last.index && isUndo(use))
  const finding = toFailureDraft({
    type: 'duplicate_side_effect',
    severity: results.size > 1 ? 'high' : 'medium',
    recovered: undo !== undefined,
    began: first.asked_by,
    topic: `${first.name}:${first.sig ?? ''}`,
    summary: `“${first.name}” did the same ${countTimes(same.length)}, with the same arguments and success each time.`,
    start_step: steps[1] ?? null,
    end_step: steps.at(-1) ?? null,
    places,
    repeats: same.length,
    waste: wasteOfSteps(run, steps.slice(1)),
    confidence: results.size > 1 ? 0.95 : 0.8,
    evidence: {
      tool: first.name,
      arguments: cutText(first.arguments ?? ''),
      results: [...results].slice(0, results_max).map((result) => cutText(result ?? '')),
      ...(undo === undefined ? {} : { undone_by: undo.name }),
    },
  })
  return [finding]
}

const results_max = 3

function isUndo({ name, fault, is_answered }: ToolUse): boolean {
  return is_answered && fault === null && /cancel|delete|remove|refund|void|revert|undo/i.test(name)
}
