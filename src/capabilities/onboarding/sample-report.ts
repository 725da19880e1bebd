import type { ShownEntry, ShownTask } from './sample-tasks-api.ts'

/** What the API says about a task and its timeline, as text for a terminal; lines end in LF. */
export function sampleReport(task: ShownTask, timeline: readonly ShownEntry[]): string {
  const { tokens } = task
  const facts: [string, string][] = [
    ['task', `${task.name}  (${task.task_id})`],
    ['state', task.state],
    ['took', `${seconds(task.duration_ms)}, ${task.calls} model calls, ${task.errors} failed`],
    [
      'tokens',
      `${grouped(tokens.input_uncached)} in, ${grouped(tokens.cache_read)} from cache, ` +
        `${grouped(tokens.output_visible + tokens.reasoning)} out`,
    ],
    ['cost', `$${task.cost_usd}`],
    ['models', `${task.models.join(', ')}  (${task.providers.join(', ')})`],
  ]
  const table = aligned(
    [['at', 'took', 'what', '', 'tokens', 'cost'], ...timeline.map(entryCells)],
    ['right', 'right', 'left', 'left', 'right', 'right'],
  )
  const lines = [...aligned(facts, ['left', 'left']), '', ...table]
  return lines.map((line) => (line === '' ? '\n' : `  ${line}\n`)).join('')
}

/** Lines of cells in columns two spaces apart, without spaces at their ends. */
export function aligned(
  rows: readonly (readonly string[])[],
  sides: readonly ('left' | 'right')[],
): string[] {
  const widths = sides.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows.map((row) =>
    sides
      .map((side, column) => {
        const [cell, width] = [row[column] ?? '', widths[column] ?? 0]
        return side === 'left' ? cell.padEnd(width) : cell.padStart(width)
      })
      .join('  ')
      .trimEnd(),
  )
}

function entryCells(entry: ShownEntry): string[] {
  const took = entry.latency_ms == null ? '' : `${Math.round(entry.latency_ms)} ms`
  const [kind, about] = described(entry)
  return [
    seconds(entry.running.elapsed_ms),
    entry.role === 'tool_result' ? '' : took,
    kind,
    shortened(about),
    entry.tokens ? grouped(entry.tokens.total) : '',
    entry.cost_usd == null ? '' : `$${entry.cost_usd}`,
  ]
}

function described(entry: ShownEntry): [kind: string, about: string] {
  switch (entry.role) {
    case 'model_call': {
      const ended = entry.status === 'ok' ? entry.finish_reason : entry.status
      return ['model', `${entry.model}${entry.streamed ? ', streamed' : ''}: ${ended}`]
    }
    case 'tool_call':
      return ['  tool', `${entry.tool_name} ${entry.arguments}`]
    case 'tool_result':
      return ['  result', entry.content ?? '']
    default:
      return ['task', entry.change ?? '']
  }
}

const aboutLength_max = 56

function shortened(text: string): string {
  return text.length <= aboutLength_max ? text : `${text.slice(0, aboutLength_max - 1)}…`
}

function seconds(duration_ms: number): string {
  return `${(duration_ms / 1000).toFixed(2)} s`
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
