import { within } from '../store/figures.ts'
import { budgets, type ConsoleFacts, type FramesRow } from './facts.ts'

/** The section of the page about the console. */
export function consoleSection({ rounds, seconds, frames, outline, paint }: ConsoleFacts): string {
  const beyond_ms = paint.tasks_ms - paint.blank_ms
  const heap = outline.heap_bytes / 1_000_000
  return [
    `Role \`all\` and a Chromium without a window or a graphics card, on the same machine; ${rounds} rounds.`,
    '',
    `Frames while a list is scrolled for ${seconds} s, and of the same page at rest before; 95th percentile, ms, medians. Long tasks: the sum of those above 50 ms while it is scrolled, in the worst round.`,
    '',
    '| list | rows | in the page | idle | scrolled | scrolled / idle | long tasks | budgets |',
    '|---|---|---|---|---|---|---|---|',
    ...frames.map(framesLine),
    '',
    `Budgets: at most ${budgets.dom_rows} rows in the page, a ratio of ${budgets.frames_ratio}, and ${budgets.long_tasks_ms} ms of long tasks.`,
    '',
    '| what | measured | budget | |',
    '|---|---|---|---|',
    `| outline of ${count(outline.steps)} steps, from the request to the first rows | ${outline.drawn_ms.toFixed(0)} ms, of which the answer took ${outline.fetch_ms.toFixed(0)} | ${count(budgets.drawn_ms)} ms | ${within(outline.drawn_ms, budgets.drawn_ms)} |`,
    `| heap of JavaScript with that outline, after a collection | ${heap.toFixed(1)} MB | ${budgets.heap_bytes / 1_000_000} MB | ${within(outline.heap_bytes, budgets.heap_bytes)} |`,
    `| first contentful paint of \`/tasks\`, warm service, cold cache of the browser | ${paint.tasks_ms.toFixed(0)} ms; ${beyond_ms.toFixed(0)} ms after a blank page (${paint.blank_ms.toFixed(0)} ms) | ${budgets.paint_beyond_blank_ms} ms after it | ${within(beyond_ms, budgets.paint_beyond_blank_ms)} |`,
    '',
  ].join('\n')
}

function framesLine(row: FramesRow): string {
  const { what, rows, dom_rows, idle_p95_ms, scrolled_p95_ms, ratio, long_tasks_ms } = row
  const met = [
    within(dom_rows, budgets.dom_rows),
    within(ratio, budgets.frames_ratio),
    within(long_tasks_ms, budgets.long_tasks_ms),
  ].join(', ')
  const times = [idle_p95_ms, scrolled_p95_ms].map((ms) => ms.toFixed(1))
  return `| ${what} | ${count(rows)} | ${dom_rows} | ${times.join(' | ')} | ${ratio.toFixed(2)} | ${long_tasks_ms.toFixed(0)} | ${met} |`
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
