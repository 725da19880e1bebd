import { printable } from '../../kernel/printable.ts'
import { sampleTasks } from './sample-script.ts'
import type { ShownTask } from './sample-tasks-api.ts'

/**
 * Renders the verdicts of the sample's tasks, and commands that show more, for a terminal of 80
 * columns; lines end in LF. `judged` are the tasks with a verdict.
 */
export function sampleReport(judged: readonly ShownTask[]): string {
  const verdicts = sampleTasks.map(({ task_id }) => {
    const task = judged.find((one) => one.task_id === task_id)
    return task === undefined
      ? [`  ${task_id}  no verdict yet; read it later with the command below`]
      : verdictLines(task)
  })
  const [looping = '', twin = ''] = sampleTasks.map(({ task_id }) => task_id)
  const calls = [
    ...sampleTasks.map(({ task_id }) => task_id).filter((id) => !isIn(judged, id)),
    `${looping}/loops`,
    `${looping}/timeline`,
    `${twin}/timeline`,
  ]
  return [
    'Two sample agents ran through the proxy, with a scripted provider. The verdicts:',
    ...verdicts.flatMap((lines) => ['', ...lines]),
    '',
    'See the loop, and each step of both:',
    '',
    ...calls.flatMap((path) => [
      `  curl $LOOPTRACE_URL/api/v1/tasks/${path} \\`,
      '    -H "X-API-Key: $LOOPTRACE_API_KEY"',
    ]),
    '',
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function isIn(judged: readonly ShownTask[], task_id: string): boolean {
  return judged.some((task) => task.task_id === task_id)
}

function verdictLines({ task_id, calls, verdict }: ShownTask): string[] {
  const { summary = '', root_cause, worst_severity } = verdict ?? {}
  const step = root_cause?.step ?? null
  const at = step === null ? '' : ` at step ${step + 1} of ${calls}`
  const result = root_cause
    ? `went wrong${at}: ${root_cause.type}, ${worst_severity}`
    : 'nothing wrong found'
  return [`  ${task_id}  ${printable(result)}`, ...wrapLines(printable(summary))]
}

const columns = 80
const indent = '    '

/** Wraps a text at 80 columns; a longer word has a line of its own. */
function wrapLines(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`
    if (lines.length > 0 && line.length <= columns) lines[lines.length - 1] = line
    else lines.push(indent + word)
  }
  return lines
}
