import { expect, test } from 'vitest'
import { aligned, sampleReport } from './sample-report.ts'
import type { ShownEntry, ShownTask } from './sample-tasks-api.ts'

const task: ShownTask = {
  task_id: 'refund-1042-x1',
  name: 'Refund for order 1042',
  state: 'completed',
  calls: 6,
  errors: 0,
  duration_ms: 1213.4,
  tokens: {
    input_uncached: 1277,
    cache_read: 4736,
    output_visible: 200,
    reasoning: 11,
    total: 6224,
  },
  cost_usd: '0.001234',
  models: ['gpt-4.1-mini'],
  providers: ['openai'],
}

const running = (elapsed_ms: number) => ({ running: { elapsed_ms } })

const timeline: ShownEntry[] = [
  { role: 'state_change', ...running(0), change: 'created' },
  {
    role: 'model_call',
    ...running(0),
    latency_ms: 101.6,
    model: 'gpt-4.1-mini',
    streamed: true,
    finish_reason: 'tool_calls',
    status: 'ok',
    tokens: { total: 1337 },
    cost_usd: '0.000157',
  },
  {
    role: 'tool_call',
    ...running(102),
    latency_ms: 3.9,
    tool_name: 'look_up_order',
    arguments: '{"order_id":"1042"}',
  },
  { role: 'tool_result', ...running(106), latency_ms: 3.9, content: 'x'.repeat(100) },
  {
    role: 'model_call',
    ...running(107),
    latency_ms: 20,
    model: 'gpt-4.1-mini',
    streamed: false,
    status: 'error',
    tokens: { total: 0 },
    cost_usd: null,
  },
]

test('a report has the facts and a line for each entry', () => {
  expect(sampleReport(task, timeline)).toBe(
    [
      '  task    Refund for order 1042  (refund-1042-x1)',
      '  state   completed',
      '  took    1.21 s, 6 model calls, 0 failed',
      '  tokens  1,277 in, 4,736 from cache, 211 out',
      '  cost    $0.001234',
      '  models  gpt-4.1-mini  (openai)',
      '',
      '      at    took  what                                                                tokens       cost',
      '  0.00 s          task      created',
      '  0.00 s  102 ms  model     gpt-4.1-mini, streamed: tool_calls                         1,337  $0.000157',
      '  0.10 s    4 ms    tool    look_up_order {"order_id":"1042"}',
      `  0.11 s            result  ${'x'.repeat(55)}…`,
      '  0.11 s   20 ms  model     gpt-4.1-mini: error                                            0',
      '',
    ].join('\n'),
  )
})

test('columns are as wide as their widest cell, and lines have no spaces at the end', () => {
  expect(
    aligned(
      [
        ['a', 'long', ''],
        ['wider', 'b'],
      ],
      ['left', 'right', 'left'],
    ),
  ).toEqual(['a      long', 'wider     b'])
})
