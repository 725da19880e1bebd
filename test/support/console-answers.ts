/** Answers of the API that are too large, or too rare, to be made by a service. */

/** An outline as the API sends it: chains of ten steps below one root. */
export function outlineOf(trace: string, size: number) {
  const at = Array.from({ length: size }, (_, node) => node)
  const column = <T>(value: (node: number) => T) => at.map(value)
  const rollup = { observations: size, calls: 0, errors: 0, cancelled: 0, unpriced_calls: 0 }
  const summary = {
    ...{ task_id: null, task_name: null, start_time: '2026-11-01T00:00:00Z', end_time: null },
    ...{ duration_ms: size, depth_max: 10, traces: 1, roots: 1, marks: {} },
    rollup: { ...rollup, tokens: { total: 0 }, cost_usd: '0' },
  }
  return {
    ...{ view: 'outline', trace_id: trace, revision: 'r', truncated: false, total: size, summary },
    ...{ served_by: 'clickhouse', fallback_reason: null, origin_time: '2026-11-01T00:00:00Z' },
    ...{ stats: { rows_read: size, duration_ms: 1 }, findings: [], findings_total: 0, trace: null },
    ids: column((node) => `step-${node}`),
    parent: column((node) => (node === 0 ? -1 : node % 10 === 1 ? 0 : node - 1)),
    start_us: column((node) => node * 1_000),
    dur_us: column((node) => (node === 0 ? size * 1_000 : 1_500)),
    ...{ name: column(() => 0), names: ['step'], type: column(() => 0), types: ['span'] },
    ...{ status: column(() => 0), statuses: ['ok'], traces: [trace], marks: [] },
    ...{ on_path: column(() => 0), mark: column(() => 0), counted_with: column(() => -1) },
    ...{ tokens: column(() => null), cost_usd: column(() => null) },
  }
}

/** Tasks as the API lists them, made from a stored one. */
export function taskListOf(
  task: object,
  count: number,
  change: (index: number) => object = () => ({}),
): string {
  const tasks = Array.from({ length: count }, (_, at) => ({
    ...{ ...task, task_id: `task-${at}`, name: `task ${at}` },
    ...change(at),
  }))
  return JSON.stringify({ tasks, total: count, next_cursor: null })
}
