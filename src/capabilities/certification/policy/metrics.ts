/** The measurement of a metric. */
export type Metric = {
  /** Stored tasks of the release, or cases of uploaded eval runs. */
  source: 'tasks' | 'eval'
  /** Share of the samples, 0–1, or the mean of one number a sample. */
  type: 'rate' | 'mean'
  /** Which values are better. */
  direction: 'higher' | 'lower'
  about: string
}

/** The metrics that a gate can name. A task without a value of a metric is not a sample of it. */
export const metrics = {
  task_success_rate: {
    source: 'tasks',
    type: 'rate',
    direction: 'higher',
    about: 'Share of the completed tasks among the ended ones. Running tasks are left out.',
  },
  unresolved_failure_rate: {
    source: 'tasks',
    type: 'rate',
    direction: 'lower',
    about:
      'Share of the analysed tasks with an open failure finding of severity medium, high or critical.',
  },
  loop_rate: {
    source: 'tasks',
    type: 'rate',
    direction: 'lower',
    about: 'Share of the analysed tasks with a loop finding, recovered ones included.',
  },
  context_failure_rate: {
    source: 'tasks',
    type: 'rate',
    direction: 'lower',
    about: 'Share of the analysed tasks with a context finding, recovered ones included.',
  },
  unsupported_claim_rate: {
    source: 'tasks',
    type: 'rate',
    direction: 'lower',
    about:
      'Share of the tasks with an open claim finding, such as an unsupported value. A task without one counts only if all values of its answers were checked.',
  },
  trust_score_mean: {
    source: 'tasks',
    type: 'mean',
    direction: 'higher',
    about: 'Mean trust score of the tasks with a verified answer, 0–1.',
  },
  negative_feedback_rate: {
    source: 'tasks',
    type: 'rate',
    direction: 'lower',
    about: 'Share of negative feedback among the tasks with feedback of end users.',
  },
  cost_mean_usd: {
    source: 'tasks',
    type: 'mean',
    direction: 'lower',
    about: 'Mean cost of a task in US dollars. Tasks with unpriced calls are left out.',
  },
  duration_mean_ms: {
    source: 'tasks',
    type: 'mean',
    direction: 'lower',
    about: 'Mean duration of a task in milliseconds.',
  },
  eval_pass_rate: {
    source: 'eval',
    type: 'rate',
    direction: 'higher',
    about: 'Share of the passed cases of the eval runs. Skipped cases are left out.',
  },
  eval_score_mean: {
    source: 'eval',
    type: 'mean',
    direction: 'higher',
    about: 'Mean score of the cases of the eval runs, 0–1.',
  },
  eval_cost_mean_usd: {
    source: 'eval',
    type: 'mean',
    direction: 'lower',
    about: 'Mean cost of a case of the eval runs in US dollars.',
  },
  eval_duration_mean_ms: {
    source: 'eval',
    type: 'mean',
    direction: 'lower',
    about: 'Mean duration of a case of the eval runs in milliseconds.',
  },
} as const satisfies Record<string, Metric>

/** Name of a metric. */
export type MetricName = keyof typeof metrics

/** The names of the metrics. */
export const metricNames = Object.keys(metrics) as [MetricName, ...MetricName[]]
