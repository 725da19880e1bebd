import { expect, test } from 'vitest'
import { incidentDetail } from '../incidents/incident-replies.ts'
import { incidentPage } from '../incidents/show-incidents.ts'
import { type NodeReply, tracePage, traceReply } from './show-trace.ts'

const io = {
  ...{ out: () => undefined, err: () => undefined, stdin: async () => '', now_ms: () => 0 },
  styled: (_style: string, text: string) => text,
  ...{ columns: () => 100, time_zone: 'UTC', stop: new AbortController().signal },
}

const rollup = { observations: 9, calls: 2, errors: 1, tokens: { total: 30 }, cost_usd: '0.5' }

const node = (depth: number, name: string, change: Partial<NodeReply> = {}): NodeReply => ({
  ...{ node_id: `id-${name}`, parent_id: null, depth, type: 'agent', name, status: 'ok' },
  ...{ marks: [], offset_ms: depth * 10, duration_ms: 1_500, rollup, details: null, ...change },
  children: change.children ?? { total: 0, shown: 0, next_cursor: null },
})

/** A page of two levels of a trace with five. */
const pageOf = (nodes: readonly NodeReply[], task_id = 'task') =>
  tracePage(
    traceReply.parse({
      ...{ trace_id: 'trace', parent_id: null, total: 1, nodes, next_cursor: null },
      summary: {
        task_id,
        start_time: '2026-11-29T08:00:00Z',
        duration_ms: 2_000,
        depth_max: 4,
        rollup,
      },
    }),
    io,
    { depth_max: 2 },
  )

test('a trace is a tree; what is left out has the option that shows it', () => {
  const error = { model: 'm', error_type: 'timeout', error_message: 'too slow' }
  const page = pageOf([
    node(0, 'root', { children: { total: 9, shown: 2, next_cursor: 'next' } }),
    node(1, 'deep', { children: { total: 3, shown: 0, next_cursor: 'c' } }),
    node(1, 'last', { status: 'error', marks: ['orphan'], details: error }),
  ])
  for (const line of [
    /^trace {2}9 observations {2}2 calls {2}1 failed {2}30 tokens {2}\$0\.5000 {2}2\.00 s {2}2026-11-29 08:00:00 UTC\n/,
    /^root +agent +\+0 ms +1\.50 s +30 +\$0\.5000\n {2}… 7 more: --cursor next\n/m,
    /^├─ deep .*\n {2}… 3 below: --parent id-deep\n/m,
    /^└─ last \(m\) .* error, orphan\n {2}timeout: too slow\n/m,
    /^Nodes below level 2 of 5 are left out: --depth 5\.\nIts task: looptrace task task\n$/m,
  ]) {
    expect(page).toMatch(line)
  }
})

const hostile = 'x\u001b]8;;https://evil\u001b\\y\u001b[2J\r\u009bz\u202eend\nline'

test('texts of traces and incidents bring no control characters to a terminal', () => {
  const details = { model: hostile, error_type: hostile, error_message: hostile }
  const change = { type: hostile, status: hostile, marks: [hostile], details, node_id: hostile }
  const children = { total: 9, shown: 0, next_cursor: hostile }
  const incident = incidentDetail.parse({
    ...{ incident_id: 'i', number: 1, title: hostile, state: hostile, severity: hostile },
    ...{ rule: hostile, signal: hostile, group: { [hostile]: hostile }, runbook_url: hostile },
    ...{
      assignee: hostile,
      suppressed: true,
      snoozed_until: hostile,
      flapping: true,
      shadow: true,
    },
    ...{
      opened_at: '2026-11-29T08:00:00Z',
      acknowledged_at: null,
      resolved_at: null,
      series: null,
    },
    evidence: [
      {
        ...{ kind: hostile, task_id: hostile, trace_id: hostile, type: hostile, summary: hostile },
        ...{ value: 3, at: '2026-11-29T08:00:00Z', finding: null },
      },
    ],
    timeline: {
      events: [
        {
          ...{ type: hostile, at: '2026-11-29T08:00:00Z', note: hostile },
          actor: { type: hostile, id: hostile },
        },
      ],
      total: 1,
    },
    deliveries: { waiting: 0, delivered: 1, dead: 0 },
  })
  for (const page of [
    pageOf([node(0, hostile, { ...change, children })], hostile),
    incidentPage(incident, io),
  ]) {
    expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
    expect(page).toContain('\\u001b')
  }
})
