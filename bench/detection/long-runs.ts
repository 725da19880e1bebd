import type { Observation } from '../../src/model/observation.ts'
import { type AgentRun, agentRun } from '../../test/corpus/agent-run.ts'

/** How clients send the history of a long task. */
export const histories = {
  grows: 'the same bytes and more',
  clock: 'another text of the system in each call',
  reminder: 'a reminder at the end of each call',
  texts: 'actions and results as text',
} as const

export type HistoryName = keyof typeof histories

/**
 * A task of `steps` steps that reads, writes and tests; its last history has about `chars`
 * characters. Every step differs, as in an agent that makes progress.
 */
export function longRun(history: HistoryName, steps: number, chars: number): Observation[] {
  if (history === 'texts') return longTextRun(steps, chars)
  const result_chars = Math.max(40, Math.floor(chars / steps) - 260)
  const tools = ['read_file', 'edit_file', 'run_tests']
  let run = agentRun(`${history} ${steps}`, { tools }).system(systemText(0)).user('Mend the build.')
  for (let step = 0; step < steps; step++) {
    run = sentAs(history, run, step)
    const name = tools[step % tools.length] ?? 'read_file'
    const args = { path: `src/part-${step}.ts`, line: step * 7 }
    run = run.tool(
      { name, args, text: `Step ${step}: ${words(step, 60)}` },
      words(step, result_chars),
    )
    if (history === 'reminder') run = run.edit((all) => all.filter((one) => !isReminder(one)))
  }
  return run.observations()
}

/** The same work by an agent that writes its actions as text. */
function longTextRun(steps: number, chars: number): Observation[] {
  const result_chars = Math.max(40, Math.floor(chars / steps) - 160)
  const format = 'Thought, Action, Observation. Tools: read_file[path], edit_file[path, line].'
  let run = agentRun(`texts ${steps}`)
    .system(`${format} ${words(1, 4_000)}`)
    .user('Mend the build.')
  for (let step = 0; step < steps; step++) {
    const name = step % 2 === 0 ? 'read_file' : 'edit_file'
    run = run
      .assistant(`Thought: ${words(step, 60)}\nAction: ${name}[src/part-${step}.ts, ${step * 7}]`)
      .user(`Observation: ${words(step, result_chars)}`)
  }
  return run.observations()
}

type Sent = { role: string; content?: unknown }

function isReminder({ role, content }: Sent): boolean {
  return role === 'user' && typeof content === 'string' && content.startsWith('Reminder')
}

function sentAs(history: HistoryName, run: AgentRun, step: number): AgentRun {
  if (history === 'reminder') return run.user(`Reminder ${step}: the plan has ${step} parts.`)
  if (history === 'grows') return run
  return run.edit(([_system, ...rest]) => [{ role: 'system', content: systemText(step) }, ...rest])
}

function systemText(step: number): string {
  return `You mend programs. It is 10:${step % 60}:00 on day ${step}. ${words(1, 4_000)}`
}

const vocabulary = 'the build reads parts and writes a list of what changed since last time'.split(
  ' ',
)

/** Text of words and numbers that depends on the seed. */
function words(seed: number, chars: number): string {
  const parts: string[] = []
  let state = seed * 2_654_435_761 + 1
  for (let length = 0; length < chars; length += (parts.at(-1)?.length ?? 0) + 1) {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    parts.push(
      state % 11 === 0 ? `${state % 1_000}` : (vocabulary[state % vocabulary.length] ?? ''),
    )
  }
  return parts.join(' ').slice(0, chars)
}
