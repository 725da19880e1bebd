import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  argumentsOf,
  cutText,
  effectOfTool,
  isPollingUse,
  listToolNames,
  placesOfUses,
  toCallEvidence,
  toFailureDraft,
  wasteOfSteps,
} from '../../facts/index.ts'
import type { TaskRun, Thread, ToolUse } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  calls: z
    .int()
    .min(2)
    .max(100)
    .default(4)
    .describe(
      'Minimum different calls of a sub-agent that its parent had made with the same results. Below: ' +
        'sub-agents look at the same folder or file to find their way.',
    ),
  share: z
    .number()
    .min(0)
    .max(1)
    .default(0.6)
    .describe('Minimum share of the sub-agent’s calls that only repeat those of its parent.'),
})
type Settings = z.output<typeof settings>

/**
 * Finds sub-agents that do again what their parent had done before it started them: the parent did
 * not pass on what it knew. A sub-agent whose order is to check the work is not reported.
 */
export const repeatedWork: Detector<typeof settings> = {
  name: 'repeated_work',
  kind: 'failure',
  types: ['repeated_work'],
  version: 2,
  needs: ['arguments', 'results'],
  settings,
  detect(run, set, budget) {
    const subAgents = run.threads.filter(
      ({ kind, parent }) => kind === 'sub_agent' && parent !== null,
    )
    if (subAgents.length === 0) return []
    budget.spend(run.tools.length)
    const usesByThread = Map.groupBy(run.tools, ({ thread }) => thread)
    return subAgents.flatMap((thread) => {
      const own = usesByThread.get(thread.index) ?? []
      const before = listEarlier(run, thread, usesByThread)
      budget.spend(own.length + before.length)
      if (own.length < set.calls || asksToCheck(run, thread)) return []
      return toFindings(run, own, { before, set })
    })
  },
}

/** Returns the parent's uses from before the sub-agent began. */
function listEarlier(
  run: TaskRun,
  { calls, parent }: Thread,
  usesByThread: ReadonlyMap<number, readonly ToolUse[]>,
): readonly ToolUse[] {
  const began = run.calls[calls[0] ?? -1]?.start_time
  if (began === undefined || parent === null) return []
  const uses = usesByThread.get(parent) ?? []
  return uses.filter(({ answered_at }) => answered_at !== null && answered_at <= began)
}

/** Words of orders whose repetition is the work, or that ask to read first. */
const checking =
  /\b(?:verif\w*|review\w*|check\w*|audit\w*|confirm\w*|reproduc\w*|validat\w*|again|second opinion|independent\w*|re-?run\w*|re-?test\w*|cross-?check\w*|compare|must read|(?:first|always) (?:read|look|open)|read\w* (?:[\w-]+ ){0,5}(?:first|before)|before you (?:write|edit|change|begin|start)|(?:über)?prüf\w*|vergleich\w*|zuerst|vérifi\w*|contrôl\w*|d'abord|revis\w*|comprueb\w*|primero)\b|检查|核实|先读|確認|まず/iu
const order_chars_max = 8_000

function asksToCheck(run: TaskRun, thread: Thread): boolean {
  const first = thread.calls[0] ?? -1
  const orders = run.messages.filter(
    ({ role, call, thread: own }) =>
      own === thread.index && call === first && (role === 'system' || role === 'user'),
  )
  return orders.some(({ text }) => checking.test(text.slice(0, order_chars_max)))
}

type Compared = { before: readonly ToolUse[]; set: Settings }

function toFindings(
  run: TaskRun,
  own: readonly ToolUse[],
  { before, set }: Compared,
): FindingDraft[] {
  const known = new Map(before.filter(isRead).map((use) => [keyOf(use), use]))
  const again = own.filter(
    (use) => isRead(use) && known.has(keyOf(use)) && !isReadToChange(use, own),
  )
  const different = new Map(again.map((use) => [keyOf(use), use]))
  if (different.size < set.calls || again.length < set.share * own.length) return []
  // After a change the same question is a new one.
  if (hasChange(before, known, different)) return []
  const [first] = again
  if (first === undefined) return []
  const steps = again.flatMap(({ step }) => step ?? [])
  const names = listToolNames([...different.values()])
  return [
    toFailureDraft({
      type: 'repeated_work',
      severity: 'low',
      recovered: false,
      began: first.asked_by,
      summary: `A sub-agent made ${different.size} calls (${names}) that its parent had made before with the same results.`,
      start_step: steps[0] ?? null,
      end_step: steps.at(-1) ?? null,
      places: placesOfUses(again),
      repeats: different.size,
      waste: wasteOfSteps(run, steps),
      confidence: Math.min(0.95, again.length / own.length),
      evidence: {
        calls: toCallEvidence([...different.values()]),
        calls_of_sub_agent: own.length,
        agent: cutText(run.threads[first.thread]?.agent_name ?? ''),
      },
    }),
  ]
}

function keyOf({ sig, out }: ToolUse): string {
  return `${sig} ${out}`
}

function isRead(use: ToolUse): boolean {
  if (use.sig === null || use.out === null || use.fault !== null) return false
  return effectOfTool(use) === 'reads' && !isPollingUse(use)
}

/** Tells whether a sub-agent changed later what it read: tools want a file to be read first. */
function isReadToChange(use: ToolUse, own: readonly ToolUse[]): boolean {
  const read = Object.values(argumentsOf(use)).filter((value) => typeof value === 'string')
  return own.some(
    (other) =>
      other.index > use.index &&
      effectOfTool(other) === 'changes' &&
      Object.values(argumentsOf(other)).some((value) => read.some((one) => one === value)),
  )
}

/** Tells whether the parent changed something after it had read all that was read again. */
function hasChange(
  before: readonly ToolUse[],
  known: ReadonlyMap<string, ToolUse>,
  different: ReadonlyMap<string, ToolUse>,
): boolean {
  const last = Math.max(...[...different.keys()].map((key) => known.get(key)?.index ?? -1))
  return before.some((use) => use.index > last && effectOfTool(use) === 'changes' && !isStart(use))
}

/** Tells whether a use starts a sub-agent, which changes nothing itself. */
function isStart({ name }: ToolUse): boolean {
  return /task|agent|delegate|spawn|handoff|transfer/i.test(name)
}
