/** Advice for a reason or obstacle, by its code. */
const advice: Record<string, string> = {
  interval_spans_limit: 'The limit lies within the interval. More tasks: wait, and certify again.',
  too_few_samples: 'Too few tasks: wait, and certify again.',
  no_samples: 'No task has a value of this metric. End tasks, or wait for detection.',
  few_clusters: 'Fewer than 50 users: the interval is rough.',
  too_few_clusters: 'Too few users. More tasks of the same users do not help.',
  incomplete_ledger: 'Records are pending or lost. Wait a moment; for lost ones see the ledger.',
  late_evidence: 'Tasks arrived after an earlier look, dated before it. Certify a new version.',
  late_baseline: 'Tasks of the baseline arrived after an earlier look, dated before it.',
  missing_group: 'A task name that must be there has no tasks.',
  equal_evidence: 'Many tasks have the same content. Send real tasks.',
  equal_baseline: 'Many tasks of the baseline have the same content.',
  evidence_jump: 'Tasks came more than ten times faster than before the first look. Wait.',
  baseline_jump: 'Tasks of the baseline came ten times faster than before. Wait.',
  many_running_tasks: 'Many tasks still run. End them.',
  many_unanalysed_tasks: 'Many tasks are not analysed yet. Wait for detection.',
  many_unchecked_tasks: 'Many answers were not checked. Content must be recorded.',
  many_unverified_tasks: 'Many tasks are not verified. Wait for verification.',
  many_unpriced_tasks: 'Many tasks have no price. Set prices for the models.',
  stale_evidence: 'The window ended too long ago. Choose one that ended within `max_age`.',
  eval_run_missing: 'A declared eval run was deleted. Certify a new version.',
  attempts_exhausted: 'The attempts of this release are used up. Certify a new version.',
}

/** Returns what a code means and what helps; the code itself if it is not known. */
export function explainCode(code: string): string {
  return advice[code] ?? code.replaceAll('_', ' ')
}

/** Formats a value of a metric: a share, dollars, milliseconds or a mean. */
export function formatMetric(metric: string, value: number): string {
  if (metric.endsWith('_rate')) return `${(value * 100).toFixed(Math.abs(value) < 0.1 ? 1 : 0)} %`
  if (metric.endsWith('_usd')) return `$${value.toPrecision(3)}`
  if (metric.endsWith('_ms')) return `${Math.round(value)} ms`
  return value.toFixed(3)
}

/** Says when a gate passes: `≥ 90 %`, `drop ≤ 3 %`. */
export function limitOf(gate: {
  metric: string
  kind: string
  direction: string
  limit: number
}): string {
  const limit = formatMetric(gate.metric, gate.limit)
  if (gate.kind === 'regression') return `drop ≤ ${limit}`
  if (gate.kind === 'zero_tolerance') return `none; rate ≤ ${limit}`
  return `${gate.direction === 'higher' ? '≥' : '≤'} ${limit}`
}

/** The tone of a verdict. */
export const verdictTones: Record<string, 'good' | 'bad' | 'warn' | undefined> = {
  certified: 'good',
  passed: 'good',
  rejected: 'bad',
  failed: 'bad',
  inconclusive: 'warn',
}
