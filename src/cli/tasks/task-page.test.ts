import { describe, expect, test } from 'vitest'
import type { CommandIo } from '../command.ts'
import { type ShownTask, taskPage } from './show-task.ts'
import { entryReply, findingReply, taskReply } from './task-replies.ts'

const hostile =
  'x\u001b[31mred\u001b]8;;https://evil\u001b\\link\u001b]8;;\u001b\\ \u009b2J safe\rowned \u202egnp\u0007'

const io = (columns: number | undefined): CommandIo => ({
  ...{ out: () => undefined, err: () => undefined, stdin: async () => '', now_ms: () => 0 },
  styled: (_style, text) => text,
  ...{ columns: () => columns, time_zone: 'Europe/Berlin', stop: new AbortController().signal },
})

/** A task with a loop of three steps, after one step; all its texts are `text`. */
function taskWith(text: string): ShownTask {
  const place = (i: number) => ({ trace_id: 't', observation_id: `o${i}` })
  const at = (i: number) => ({ time: `2026-11-29T07:40:0${i}Z`, ...place(i) })
  const task = taskReply.parse({
    ...{ task_id: text, name: text, user_id: text, state: 'completed', stalled: false },
    ...{ started_at: '2026-11-29T07:40:00Z', last_activity_at: '2026-11-29T07:40:09Z' },
    ...{ duration_ms: 9_000, calls: 4, errors: 1, tokens: { total: 1_400 }, cost_usd: '0.02' },
    ...{ unpriced_calls: 0, models: [text], environment: text, release: text, end_note: text },
    ...{ cluster_name: text },
    verdict: {
      ...{ summary: text, worst_severity: 'high', recovered: 0, wasted_tokens: 700 },
      ...{ wasted_cost_usd: '0.01', detected_at: '2026-11-29T07:41:00Z' },
      root_cause: { finding_id: 'f', type: 'repeat_call', step: 1 },
    },
  })
  const finding = findingReply.parse({
    ...{ finding_id: 'f', kind: 'loop', type: 'repeat_call', severity: 'high', state: 'open' },
    ...{ summary: text, start_step: 1, end_step: 3, period: 1, repeats: 3 },
    ...{ places: [place(1), place(2), place(3)], wasted_tokens: 700, wasted_cost_usd: '0.01' },
    ...{ confidence: 0.9, evidence: { calls: [{ name: text }], [text]: text } },
  })
  const entries = [0, 1, 2, 3].flatMap((i) => [
    {
      ...{ role: 'model_call', ...at(i), type: 'generation', status: i === 0 ? 'error' : 'ok' },
      ...{ error: i === 0 ? { type: text, message: text } : null, model: text, latency_ms: 100 },
      ...{ finish_reason: text, counted_with: '', tokens: { total: 350 }, cost_usd: '0.005' },
    },
    {
      ...{ role: 'tool_call', ...at(i), tool_call_id: `c${i}`, tool_name: text, arguments: text },
      ...{ is_cut: false, orphan: false },
    },
    {
      ...{
        role: 'tool_result',
        ...at(i + 1),
        tool_call_id: `c${i}`,
        tool_name: text,
        content: text,
      },
      ...{ is_cut: i === 0, latency_ms: 1, error: null },
      ...{ call_observation_id: `o${i}`, call_trace_id: 't' },
    },
  ])
  const change = { role: 'state_change', time: '2026-11-29T07:40:09Z', change: 'completed' }
  const operation = {
    ...{ role: 'operation', ...at(9), type: 'agent', name: text, status: 'error', latency_ms: 3 },
    error: { type: text, message: text },
  }
  return {
    ...{ task, findings: [finding], is_current: false, is_whole: false, entries_total: 9_000 },
    not_checked: [{ detector: 'claims', reason: text }],
    entries: [...entries, operation, { ...change, actor: { kind: 'key' }, note: text }].map((one) =>
      entryReply.parse(one),
    ),
  }
}

test('a page has the verdict, the root cause, the finding and the loop as one line', () => {
  const page = taskPage(taskWith('word'), io(100), { is_full: false })
  for (const line of [
    /^completed {2}4 calls {2}1 failed {2}1,400 tokens {2}\$0\.0200 {2}9\.00 s {2}2026-11-29 08:40:00 Europe\/Berlin$/m,
    /^VERDICT {2}high\n {2}word\n {2}root cause: repeat_call at step 2\n {2}wasted: 700 tokens, \$0\.0100\n/m,
    /^ {2}The task has changed since; its next analysis is due\.\n {2}not checked by claims: word$/m,
    /^FINDING {2}high {2}repeat_call\n {2}loop, open, steps 2–4 ×3, 700 tokens/m,
    /^ {2}calls: \[{"name":"word"}\]$/m,
    /^ +1 +\+0 ms +word error +100 ms +350 +\$0\.005000$/m,
    /^ +← word… \(cut by the API\)$/m,
    /^ +2–4 +×3 +\+1\.00 s +word +300 ms +1,050 +\$0\.0150\n +! high: repeat_call\n +→ word word\n/m,
    /^The first 14 of 9,000 entries\.$/m,
  ]) {
    expect(page).toMatch(line)
  }
  expect(page.match(/→ word word/g)).toHaveLength(2)
})

test('--full shows each iteration, and whole contents', () => {
  const long = `begin ${'word '.repeat(100)}end`
  const page = taskPage(taskWith(long), io(60), { is_full: true })
  expect(page.match(/→ begin/g)).toHaveLength(4)
  expect(page.match(/^ +end… \(cut by the API\)$|end$/gm)?.length).toBeGreaterThanOrEqual(8)
  expect(page).not.toContain('×3 ')
})

describe('a terminal', () => {
  test.each([
    [undefined, false],
    [undefined, true],
    [30, false],
    [100, true],
  ])('of %j columns gets no control characters from texts; in full: %j', (columns, is_full) => {
    const page = taskPage(taskWith(hostile), io(columns), { is_full })
    expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
    expect(page).toContain('\\u001b')
  })
})
